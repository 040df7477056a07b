// The launch is on a device that a variable chooses.
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

__global__ void doubled(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x) {
    const int other = 1;
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 28), "size");
    auto y = torch::empty_like(x);
    c10::cuda::CUDAGuard guard(other);
    int n = x.numel();
    doubled<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
