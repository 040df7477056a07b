// How many elements of each group of 32 are positive, whether any is not a number, whether all are small.
#include <torch/extension.h>

__global__ void ballots(const float* __restrict__ x, int* __restrict__ positive, bool* __restrict__ broken,
                        bool* __restrict__ small, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int group = i / 32;
    const float v = i < n ? x[i] : 0.0f;
    const unsigned votes = __ballot_sync(0xffffffffu, v > 0.0f);
    const bool bad = __any_sync(0xffffffffu, v != v);
    const bool tame = __all_sync(0xffffffffu, fabsf(v) < 1.0f);
    if (threadIdx.x % 32 == 0 && i < n) {
        positive[group] = __popc(votes);
        broken[group] = bad;
        small[group] = tame;
    }
}

std::vector<torch::Tensor> run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "contiguous float32");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= 1000000000, "size");
    const int n = x.numel();
    const int groups = (n + 31) / 32;
    auto positive = torch::empty({groups}, x.options().dtype(torch::kInt32));
    auto broken = torch::empty({groups}, x.options().dtype(torch::kBool));
    auto small = torch::empty({groups}, x.options().dtype(torch::kBool));
    ballots<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), positive.data_ptr<int>(), broken.data_ptr<bool>(),
                                      small.data_ptr<bool>(), n);
    return {positive, broken, small};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
