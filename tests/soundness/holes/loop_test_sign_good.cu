// The comparison is signed: the loop ends at -1.
#include <torch/extension.h>

__global__ void countdown(float* out, int low) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 99; i >= low; i--) {
            out[i] = 1.0f;
        }
    }
}

torch::Tensor fill(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda());
    auto out = torch::empty({100}, x.options());
    countdown<<<1, 32>>>(out.data_ptr<float>(), 0);
    return out;
}
