// The barrier does not depend on the texture.
#include <torch/extension.h>

__global__ void gate(cudaTextureObject_t tex, float* y, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;
    if (tex1Dfetch<int>(tex, 0) > 0) s[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) y[i] = s[255 - threadIdx.x];
}

torch::Tensor run(torch::Tensor y, int64_t handle) {
    TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32, "y");
    TORCH_CHECK(y.numel() > 0 && y.numel() <= (1 << 30), "size");
    gate<<<(y.numel() + 255) / 256, 256>>>(static_cast<cudaTextureObject_t>(handle), y.data_ptr<float>(), y.numel());
    return y;
}
