// Two states give two numbers, and so do two calls with one state.
#include <curand_kernel.h>
#include <torch/extension.h>

__global__ void agree(float* y, int n, unsigned long long seed) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, i, 0, &state);
    s[threadIdx.x] = i;
    if (curand_uniform(&state) > 0.5f) __syncthreads();  //! not proved: barrier-divergence
    if (i < n) y[i] = s[255 - threadIdx.x];
}

torch::Tensor run(torch::Tensor y) {
    TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32, "y");
    TORCH_CHECK(y.numel() > 0 && y.numel() <= (1 << 30), "size");
    agree<<<(y.numel() + 255) / 256, 256>>>(y.data_ptr<float>(), y.numel(), 1);
    return y;
}
