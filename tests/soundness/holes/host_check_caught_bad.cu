// A check that throws protects nothing where the exception is caught and the launch follows.
#include <torch/extension.h>

__global__ void scale(float* x) {
    int i = blockIdx.x * 256 + threadIdx.x;
    x[i] *= 2.0f;  //! not proved: bounds-global
}

void check(int64_t n) {
    try {
        TORCH_CHECK(n % 256 == 0, "whole blocks");
    } catch (...) {
        return;
    }
}

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 20), "size");
    check(x.numel());
    scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>());
}
