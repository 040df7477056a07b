// The array is a new one in each round: what an earlier round wrote is gone.
#include <torch/extension.h>

__global__ void sums(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) {
        float t[2];
        if (j > 0) {
            sum += t[j & 1];  //! not proved: uninitialized
        }
        t[0] = x[i];
        t[1] = sum;
    }
    y[i] = sum;
}

torch::Tensor summed(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() < (1 << 28));
    int n = x.numel();
    auto y = torch::empty({n}, x.options());
    sums<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
