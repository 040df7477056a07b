// All cells of the local array are written.
#include <torch/extension.h>

__global__ void mix(const float* x, float* y, int n) {
    float t[4];
    for (int j = 0; j < 4; ++j) {
        t[j] = (float)j;
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = t[i % 4] + x[i];
    }
}

torch::Tensor mixed(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() < (1 << 30));
    int n = x.numel();
    auto y = torch::empty({n}, x.options());
    mix<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
