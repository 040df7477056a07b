// slice gives a view of y, and contiguous() of it is y itself.
#include <torch/extension.h>

__global__ void shift(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n - 1) y[i] = x[i + 1];  //! not proved: race-global
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() >= 2 && x.numel() <= (1 << 20), "size");
    int n = x.numel();
    auto y = torch::zeros({n}, x.options());
    auto v = y.slice(0, 0, n).contiguous();
    TORCH_CHECK(v.is_cuda() && v.is_contiguous() && v.numel() == n, "v");
    shift<<<(n + 255) / 256, 256>>>(v.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
