// A reference names x or w, and a smaller tensor is assigned to it: x may be smaller than it was.
#include <torch/extension.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x, torch::Tensor w, int64_t which) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.numel() >= 2 && x.numel() <= (1 << 20), "x");
    int n = x.numel();
    auto y = torch::empty({n}, x.options().dtype(torch::kFloat32));
    torch::Tensor& either = which > 0 ? x : w;
    either = torch::zeros({1}, y.options());
    copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
