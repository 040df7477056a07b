// Two kernels that are named as the sizes of their launches.
#include <torch/extension.h>

__global__ void rows(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void cols(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 3.0f * x[i];  //! refuted: bounds-global
}

torch::Tensor by_rows(torch::Tensor x, int64_t rows) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(rows > 0 && rows <= (1 << 28) && x.numel() >= rows, "size");
    auto y = torch::empty({rows}, x.options());
    ::rows<<<(rows + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)rows);
    return y;
}

torch::Tensor by_cols(torch::Tensor x, int64_t cols) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(cols > 0 && cols <= (1 << 28) && x.numel() >= cols, "size");
    auto y = torch::empty({cols}, x.options());
    ::cols<<<(cols + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)cols);
    return y;
}
