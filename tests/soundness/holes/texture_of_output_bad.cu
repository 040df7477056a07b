// The texture may be the very memory that is written.
#include <torch/extension.h>

__global__ void shift(cudaTextureObject_t tex, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex1Dfetch<float>(tex, i + 1);  //! not proved: race-global
}

torch::Tensor run(torch::Tensor y, int64_t handle) {
    TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32, "y");
    TORCH_CHECK(y.numel() > 0 && y.numel() <= (1 << 30), "size");
    shift<<<(y.numel() + 255) / 256, 256>>>(static_cast<cudaTextureObject_t>(handle), y.data_ptr<float>(), y.numel());
    return y;
}
