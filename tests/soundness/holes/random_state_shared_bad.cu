// One state for all threads of a block: each call reads and writes all of it.
#include <curand_kernel.h>
#include <torch/extension.h>

__global__ void draw(float* y, int n, unsigned long long seed) {
    __shared__ curandState states[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[threadIdx.x]);
    __syncthreads();
    float u = curand_uniform(&states[threadIdx.x / 2]);  //! refuted: race-shared
    if (i < n) y[i] = u;
}

torch::Tensor run(torch::Tensor y) {
    TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32, "y");
    TORCH_CHECK(y.numel() > 0 && y.numel() <= (1 << 30), "size");
    draw<<<(y.numel() + 255) / 256, 256>>>(y.data_ptr<float>(), y.numel(), 1);
    return y;
}
