// Both addresses are checked before four values at a time are read and written.
#include <torch/extension.h>

__global__ void copy(const float4* x, float4* y, int quads) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < quads) y[i] = x[i];
}

void run(torch::Tensor x, torch::Tensor y) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32, "y");
    TORCH_CHECK(x.numel() >= 4 && x.numel() <= (1 << 20) && x.numel() == y.numel(), "size");
    TORCH_CHECK(reinterpret_cast<uintptr_t>(x.data_ptr<float>()) % 16 == 0, "x starts at a multiple of 16 bytes");
    TORCH_CHECK((reinterpret_cast<uintptr_t>(y.data_ptr<float>()) & 15) == 0, "y starts at a multiple of 16 bytes");
    const int quads = x.numel() / 4;
    copy<<<(quads + 255) / 256, 256>>>(reinterpret_cast<const float4*>(x.data_ptr<float>()),
                                       reinterpret_cast<float4*>(y.data_ptr<float>()), quads);
}
