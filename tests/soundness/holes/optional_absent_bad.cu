// The factor is optional; where it is absent the kernel is given a null pointer, and reads it.
#include <torch/extension.h>

__global__ void scale(const float* x, const float* factor, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i] * factor[0];  //! not proved: bounds-global
}

void run(torch::Tensor x, std::optional<torch::Tensor> factor, torch::Tensor y) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32, "y");
    TORCH_CHECK(x.numel() >= 1 && x.numel() <= (1 << 20) && x.numel() == y.numel(), "size");
    const bool given = factor.has_value() && factor->defined();
    const int n = x.numel();
    scale<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), given ? factor->data_ptr<float>() : nullptr,
                                    y.data_ptr<float>(), n);
}
