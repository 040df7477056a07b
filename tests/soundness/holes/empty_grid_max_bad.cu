// max() launches a block for m == 0 as well, so that the grid says nothing of m.
#include <torch/extension.h>

__global__ void columns(const float* x, float* out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = x[i % m];  //! not proved: arithmetic
    }
}

torch::Tensor columns_of(torch::Tensor x) {
    int n = x.size(0);
    int m = x.size(1) - 1;
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && m >= 0 && n < 10000 && m < 10000);
    auto out = torch::empty({n}, x.options());
    int blocks = std::max(1, n * m / 256 + n);
    columns<<<blocks, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n, m);
    return out;
}
