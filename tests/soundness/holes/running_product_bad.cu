// One thread a round, and the rounds start too late: nobody stored what the first of them reads.
#include <torch/extension.h>

__global__ void k(const float* x, float* y, int n) {
    int t = threadIdx.x;
    long long start = (long long)blockIdx.x * n;
    if (t == 0) y[start] = x[start];
    __syncthreads();
    for (int r = 2; r < n; r++) {
        if (t == r) y[start + r] = y[start + r - 1] * x[start + r];  //! not proved: uninitialized
        __syncthreads();
    }
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2 && x.scalar_type() == torch::kFloat32);
    TORCH_CHECK(x.size(0) > 0 && x.size(1) > 0 && x.size(0) < 4096 && x.size(1) <= 1024);
    auto y = torch::empty_like(x);
    k<<<x.size(0), 1024>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
