// The sizes are copied, so that the list still holds rows and columns.
#include <torch/extension.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2 && x.dtype() == torch::kFloat32);
    std::vector<int64_t> sizes{x.size(0), x.size(1)};
    auto first = torch::zeros(sizes, x.options());
    sizes.push_back(1);
    auto y = torch::empty(sizes, x.options());
    int n = x.numel();
    copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
