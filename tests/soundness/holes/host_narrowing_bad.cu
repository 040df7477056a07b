// The host keeps a number of bytes in an int, which wraps long before the number of elements does.
#include <torch/extension.h>

__global__ void scale(float* x, int64_t bytes) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bytes / 4) x[i] *= 2.0f;
}

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1LL << 30), "size");
    int bytes = x.numel() * 4;  //! refuted: overflow
    scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), bytes);
}
