// i >= low compares unsigned values: it never fails for low == 0, and i runs below 0.
#include <torch/extension.h>

__global__ void countdown(float* out, unsigned low) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 99; i >= low; i--) {
            out[i] = 1.0f;  //! refuted: bounds-global
        }
    }
}

torch::Tensor fill(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda());
    auto out = torch::empty({100}, x.options());
    countdown<<<1, 32>>>(out.data_ptr<float>(), 0u);
    return out;
}
