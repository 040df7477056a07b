// The second output is as long as the first.
#include <torch/extension.h>

__global__ void both(float* y, float* z, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        y[i] = 1.0f;
    }
    if (i < m) {
        z[i] = 2.0f;
    }
}

torch::Tensor fill(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.dim() == 2 && x.numel() > 0 && x.numel() < (1 << 20));
    int n = x.size(0), m = x.size(1) - 1;
    auto y = torch::empty({m}, x.options());
    auto z = torch::empty({m}, x.options());
    both<<<(m + 255) / 256, 256>>>(y.data_ptr<float>(), z.data_ptr<float>(), m, n);
    return z;
}
