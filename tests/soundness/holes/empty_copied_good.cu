// Zeros stay zeros when they are copied to the device.
#include <torch/extension.h>

__global__ void accumulate(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) total[i] += x[i];
}

torch::Tensor launch(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dtype() == torch::kFloat32);
    TORCH_CHECK(x.numel() > 0 && x.numel() < 1000000);
    int n = x.numel();
    auto total = torch::zeros({n}, torch::kFloat32).to(x.device());
    accumulate<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), total.data_ptr<float>(), n);
    return total;
}
