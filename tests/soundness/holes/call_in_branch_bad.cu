// The lambda that takes one element away is called in one branch only, and y has been made with one less.
#include <torch/extension.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x, int64_t odd) {
    TORCH_CHECK(x.is_cuda() && x.numel() >= 2 && x.numel() <= (1 << 20), "x");
    int n = x.numel();
    auto y = torch::empty({n - 1}, x.options().dtype(torch::kFloat32));
    auto take = [&]() { return --n; };
    int kept = odd > 0 ? take() : 1;
    TORCH_CHECK(kept > 0, "kept");
    fill<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);
    return y;
}
