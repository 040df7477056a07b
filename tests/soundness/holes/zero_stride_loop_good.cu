// The loop advances by an argument that is positive.
#include <torch/extension.h>

__global__ void every(float* x, int64_t n, int64_t stride) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int64_t i = 0; i < n; i += stride) x[i] = 0.0f;
    }
}

void run(torch::Tensor x, int64_t stride) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1LL << 30), "size");
    TORCH_CHECK(stride >= 1 && stride <= (1LL << 30), "stride");
    every<<<1, 32>>>(x.data_ptr<float>(), x.numel(), stride);
}
