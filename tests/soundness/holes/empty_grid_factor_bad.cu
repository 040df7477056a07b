// With k == 3 nothing is launched although the output has n elements: an empty grid is moot for empty outputs only.
#include <torch/extension.h>

__global__ void fill(float* out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = (float)m;
    }
}

torch::Tensor fill_all(torch::Tensor x) {
    int n = x.size(0);
    int m = x.size(1) - 3;
    TORCH_CHECK(x.is_cuda() && m >= 0 && n < 100000 && m < 10000);
    auto out = torch::empty({n}, x.options());
    fill<<<((n + 255) / 256) * m, 256>>>(out.data_ptr<float>(), n, m);  //! not proved: launch
    return out;
}
