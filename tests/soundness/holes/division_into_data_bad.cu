// A quotient that becomes data, not an index, is divided by zero all the same.
#include <torch/extension.h>

__global__ void group_number(const float* x, float* y, int n, int group_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int group = i / group_size;  //! refuted: arithmetic
        y[i] = x[i] + group;
    }
}

torch::Tensor run(torch::Tensor x, int groups) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.dim() == 1 && x.numel() > 0 && x.numel() <= (1LL << 30), "shape");
    TORCH_CHECK(groups >= 1, "groups");
    auto y = torch::empty_like(x);
    const int n = x.numel();
    group_number<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, n / groups);
    return y;
}
