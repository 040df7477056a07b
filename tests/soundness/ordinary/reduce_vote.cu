// How many elements are positive: ballots, one atomic a warp.
#include <torch/extension.h>

__global__ void count_positive(const float* x, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool positive = i < n && x[i] > 0.0f;
    const unsigned votes = __ballot_sync(0xffffffffu, positive);
    if ((threadIdx.x & 31) == 0) atomicAdd(count, __popc(votes));
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30), "size");
    auto count = torch::zeros({1}, x.options().dtype(torch::kInt32));
    const int n = x.numel();
    count_positive<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), count.data_ptr<int>(), n);
    return count;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
