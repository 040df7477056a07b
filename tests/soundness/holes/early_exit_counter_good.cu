// Where the block is left early the variable has a value before the loop.
#include <torch/extension.h>

__global__ void sums(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int j = 0;
    float last = 0.0f;
    do {
        j = 1;
        if (i & 1) {
            break;
        }
        j = 0;
    } while (0);
    for (; j < 3; ++j) {
        last = x[i];
    }
    y[i] = last;
}

torch::Tensor summed(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() < (1 << 28));
    int n = x.numel();
    auto y = torch::empty({n}, x.options());
    sums<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
