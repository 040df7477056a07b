// Where a block runs, m is at least 1.
#include <torch/extension.h>

__global__ void columns(const float* x, float* out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * m) {
        out[i] = x[i % m];
    }
}

torch::Tensor columns_of(torch::Tensor x) {
    int n = x.size(0);
    int m = x.size(1) - 1;
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && m >= 0 && n < 10000 && m < 10000);
    auto out = torch::empty({n, m}, x.options());
    int blocks = (n * m + 255) / 256;
    columns<<<blocks, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n, m);
    return out;
}
