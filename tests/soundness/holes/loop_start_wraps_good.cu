// The loop starts at n.
#include <torch/extension.h>

__global__ void doubling(float* out, unsigned n) {
    out[threadIdx.x] = 0.0f;
    for (signed char v = n; v < 8; v *= 2) {
        out[v >> 1] = 1.0f;
        if (v < 1) {
            break;
        }
    }
}

torch::Tensor fill(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.size(0) <= 64);
    auto out = torch::empty({64}, x.options());
    unsigned n = x.size(0) - 1;
    doubling<<<1, 1>>>(out.data_ptr<float>(), n);
    return out;
}
