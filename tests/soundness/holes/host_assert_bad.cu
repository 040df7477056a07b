// assert is compiled out of release builds and guarantees nothing.
#include <torch/extension.h>
#include <cassert>

__global__ void scale(float* x) {
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    x[i] *= 2.0f;  //! refuted: bounds-global
}

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1LL << 30), "size");
    assert(x.numel() % 256 == 0);
    scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>());
}
