// Layer normalisation over the last axis, one warp a row, the two sums by shuffles; the number of threads
// outgrows int long before the number of elements does.
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int WARP = 32;
constexpr int WARPS_PER_BLOCK = 8;

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = WARP / 2; offset > 0; offset >>= 1) {
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    }
    return v;
}

__global__ void layernorm_kernel(const float* __restrict__ x, const float* __restrict__ gamma,
                                 const float* __restrict__ beta, float* __restrict__ y,
                                 int rows, int cols, float eps) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;  //! refuted: overflow
    const int row = thread / WARP;
    const int lane = thread % WARP;
    if (row >= rows) return;

    const float* x_row = x + static_cast<int64_t>(row) * cols;
    float* y_row = y + static_cast<int64_t>(row) * cols;

    float sum = 0.0f;
    for (int c = lane; c < cols; c += WARP) {
        sum += x_row[c];
    }
    const float mean = warp_sum(sum) / cols;

    float squares = 0.0f;
    for (int c = lane; c < cols; c += WARP) {
        const float d = x_row[c] - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(warp_sum(squares) / cols + eps);

    for (int c = lane; c < cols; c += WARP) {
        y_row[c] = (x_row[c] - mean) * scale * gamma[c] + beta[c];
    }
}

torch::Tensor layernorm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps) {
    TORCH_CHECK(x.is_cuda() && gamma.is_cuda() && beta.is_cuda(), "inputs must be CUDA tensors");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");
    TORCH_CHECK(gamma.scalar_type() == torch::kFloat32 && beta.scalar_type() == torch::kFloat32,
                "gamma and beta must be float32");
    TORCH_CHECK(x.dim() == 2, "x must be a matrix");
    TORCH_CHECK(x.is_contiguous() && gamma.is_contiguous() && beta.is_contiguous(),
                "inputs must be contiguous");
    TORCH_CHECK(x.size(0) <= (1LL << 30) && x.size(1) <= (1LL << 30), "x is too large");
    TORCH_CHECK(gamma.numel() == x.size(1), "gamma must match the last axis");
    TORCH_CHECK(beta.numel() == x.size(1), "beta must match the last axis");

    const int rows = static_cast<int>(x.size(0));
    const int cols = static_cast<int>(x.size(1));
    auto y = torch::empty_like(x);
    if (rows == 0 || cols == 0) {
        return y;
    }
    const int blocks = (rows + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
    layernorm_kernel<<<blocks, WARP * WARPS_PER_BLOCK>>>(
        x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(),
        rows, cols, static_cast<float>(eps));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("layernorm", &layernorm, "Layer normalisation over the last axis");
}
