// The kernel uses two floats a thread of dynamic shared memory; the launch gives two.
#include <cuda_runtime.h>

__global__ void pairs(const float* x, float* y) {
    extern __shared__ float scratch[];
    int t = threadIdx.x;
    scratch[t] = x[blockIdx.x * blockDim.x + t];
    scratch[blockDim.x + t] = 2.0f * scratch[t];
    __syncthreads();
    y[blockIdx.x * blockDim.x + t] = scratch[blockDim.x + (t + 1) % blockDim.x];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 128 * sizeof(float));
    cudaMalloc(&y, blocks * 128 * sizeof(float));
    cudaMemset(x, 0, blocks * 128 * sizeof(float));
    pairs<<<blocks, 128, 2 * 128 * sizeof(float)>>>(x, y);
    return cudaDeviceSynchronize();
}
