// std::exchange assigns to its first argument: y is the small tensor afterwards.
#include <torch/extension.h>
#include <utility>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() >= 2 && x.numel() <= (1 << 20), "size");
    const int n = x.numel();
    auto y = torch::empty({n}, x.options());
    auto old = std::exchange(y, torch::empty({1}, x.options()));
    copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
