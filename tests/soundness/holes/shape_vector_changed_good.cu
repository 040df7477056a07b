// The shape is copied into a vector: y is as large as x.
#include <torch/extension.h>
#include <vector>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() >= 1 && x.numel() <= (1 << 20), "size");
    std::vector<int64_t> shape = x.sizes().vec();
    auto y = torch::empty(shape, x.options());
    const int n = x.numel();
    copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
