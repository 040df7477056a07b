// The counter of a loop over 2048 cells is an int.
#include <torch/extension.h>

__global__ void fill(const float* x, float* y) {
    __shared__ float cells[2048];
    for (int i = threadIdx.x; i < 2048; i += 32) cells[i] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = cells[threadIdx.x];
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() == 32, "x");
    auto y = torch::empty_like(x);
    fill<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
