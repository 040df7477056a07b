// A view in the same type has as many elements as the memory.
#include <torch/extension.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.0f;  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dtype() == torch::kFloat32);
    auto y = torch::empty({x.numel()}, x.options()).view({-1});
    int n = y.numel();
    fill<<<(n + 255) / 256, 256>>>((float*)y.data_ptr(), n);
    return y;
}
