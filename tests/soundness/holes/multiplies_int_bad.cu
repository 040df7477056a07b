// std::multiplies<int> multiplies in 32 bits, whatever the type of the first value: 2^20 * 4096 is 0.
#include <torch/extension.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}
#include <functional>
#include <numeric>

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() >= 2 && x.numel() <= (1 << 20), "size");
    int n = x.numel();
    std::vector<int64_t> sizes = {n, 4096};
    int64_t total = std::accumulate(sizes.begin(), sizes.end(), (int64_t)1, std::multiplies<int>());
    auto y = torch::empty({total}, x.options());
    copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
