// The second size is 1.
#include <torch/extension.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];
}
#include <array>

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() >= 2 && x.numel() <= (1 << 20), "size");
    int n = x.numel();
    std::array<int64_t, 2> sizes = {n, 1};
    auto y = torch::empty(sizes, x.options());
    copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
