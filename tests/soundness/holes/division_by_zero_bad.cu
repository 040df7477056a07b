// The divisor is an argument that nobody checks.
#include <torch/extension.h>

__global__ void group(const float* x, float* y, int n, int group_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i / group_size];  //! refuted: arithmetic
    }
}

torch::Tensor run(torch::Tensor x, int group_size) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1LL << 30), "size");
    TORCH_CHECK(group_size >= 0, "group_size");
    auto y = torch::empty_like(x);
    const int n = x.numel();
    group<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, group_size);
    return y;
}
