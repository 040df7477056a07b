// The loop variable is wide enough for any stride.
#include <torch/extension.h>

__global__ void every(float* x, int n, int stride) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += stride) {
        if (threadIdx.x == 0 && blockIdx.x == 0) x[i] = 0.0f;
    }
}

void run(torch::Tensor x, int stride) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1LL << 30), "size");
    TORCH_CHECK(stride > 0, "stride");
    every<<<1, 32>>>(x.data_ptr<float>(), (int)x.numel(), stride);
}
