// The index that a texture holds is clamped.
#include <torch/extension.h>

__global__ void pick(cudaTextureObject_t tex, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = tex2D<int>(tex, i + 0.5f, 0.5f);
        y[i] = x[min(max(k, 0), n - 1)];
    }
}

torch::Tensor run(torch::Tensor x, int64_t handle) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30), "size");
    auto y = torch::empty_like(x);
    pick<<<(x.numel() + 255) / 256, 256>>>(
        static_cast<cudaTextureObject_t>(handle), x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
