// Every path assigns the variable.
#include <torch/extension.h>

__global__ void mix(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float t;
    if (i % 2) {
        t = 1.0f;
    } else {
        t = 2.0f;
    }
    if (i < n) {
        y[i] = t + x[i];
    }
}

torch::Tensor mixed(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() < (1 << 30));
    int n = x.numel();
    auto y = torch::empty({n}, x.options());
    mix<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
