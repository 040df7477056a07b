// Nothing is narrowed.
#include <torch/extension.h>

__global__ void strided(float* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < 100; i += 70) {
            out[i] = 1.0f;
        }
    }
}

torch::Tensor fill(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda());
    auto out = torch::empty({200}, x.options());
    strided<<<1, 32>>>(out.data_ptr<float>());
    return out;
}
