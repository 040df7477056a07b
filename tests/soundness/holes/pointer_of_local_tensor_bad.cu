// The tensor of the helper is free when it returns: y may be the same memory.
#include <torch/extension.h>

__global__ void shift(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n - 1) y[i] = x[i + 1];  //! not proved: race-global
}

const float* twice(torch::Tensor x) {
    auto t = x * 2;
    return t.data_ptr<float>();
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() >= 2 && x.numel() <= (1 << 20), "size");
    int n = x.numel();
    const float* p = twice(x);
    auto y = torch::empty({n}, x.options());
    shift<<<(n + 255) / 256, 256>>>(p, y.data_ptr<float>(), n);
    return y;
}
