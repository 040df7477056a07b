// A part of memory that is filled with zeros.
#include <torch/extension.h>

__global__ void add(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = y[i] + x[i];  //! not proved: uninitialized
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dtype() == torch::kFloat32);
    int n = x.numel();
    auto whole = torch::zeros({n + 1}, x.options());
    auto y = whole.narrow(0, 0, n);
    TORCH_CHECK(y.numel() == n);
    add<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
