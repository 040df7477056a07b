// The workspace is rounded up.
#include <torch/extension.h>

__global__ void first(const float* x, float* partial) {
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = x[0];
    }
}

torch::Tensor parts(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
    TORCH_CHECK(x.numel() > 0 && x.numel() < (1 << 20));
    int n = x.numel();
    auto partial = torch::empty({(n + 255) / 256}, x.options());
    first<<<1, 256>>>(x.data_ptr<float>(), partial.data_ptr<float>());
    return partial;
}
