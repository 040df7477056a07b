// Four elements a thread, and the n % 4 that are left one by one.
#include <torch/extension.h>

__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        reinterpret_cast<float4*>(y)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    } else {
        for (int j = 4 * i; j < n; j++) y[j] = 2 * x[j];
    }
}

torch::Tensor twice(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() >= 4);
    auto y = torch::empty_like(x);
    int n = x.numel();
    scale<<<(n / 4 + 256) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
