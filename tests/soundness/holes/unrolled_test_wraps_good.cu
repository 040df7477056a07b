// 200 is a bound.
#include <torch/extension.h>

__global__ void powers(float* out) {
    out[threadIdx.x] = 0.0f;
    for (unsigned v = 16; v <= 200; v *= 2) {
        if (v > 255) {
            out[v] = 1.0f;
        }
    }
}

torch::Tensor fill(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda());
    auto out = torch::empty({64}, x.options());
    powers<<<1, 1>>>(out.data_ptr<float>());
    return out;
}
