// A lambda changes its own copy of n before the launch.
#include <torch/extension.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.numel() >= 1 && x.numel() <= (1 << 20), "x");
    int n = x.numel();
    auto y = torch::empty({n}, x.options().dtype(torch::kFloat32));
    auto widen = [n](int more) mutable { n += more; };
    widen(1);
    fill<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);
    return y;
}
