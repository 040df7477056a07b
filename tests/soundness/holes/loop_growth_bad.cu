// A value that a loop multiplies outgrows int; nothing but its type bounds it.
#include <torch/extension.h>

__global__ void grow(const float* x, float* y, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = 1;
    for (int r = 0; r < rounds; ++r) {
        v = v * 3 + 1;  //! not proved: overflow
    }
    if (v < 0) v = -(v + 1);
    y[i] = x[v % n];
}

torch::Tensor run(torch::Tensor x, int64_t rounds) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30) && rounds >= 0 && rounds <= 1000, "size");
    auto y = torch::empty_like(x);
    const int n = x.numel();
    grow<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, static_cast<int>(rounds));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
