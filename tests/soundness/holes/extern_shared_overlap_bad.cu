// Two extern __shared__ arrays are one and the same memory.
#include <cuda_runtime.h>

extern __shared__ float left[];
extern __shared__ float right[];

__global__ void pairs(const float* x, float* y) {
    int t = threadIdx.x;
    left[t] = x[blockIdx.x * 128 + t];
    right[127 - t] = x[blockIdx.x * 128 + t];  //! refuted: race-shared
    __syncthreads();
    y[blockIdx.x * 128 + t] = left[t] + right[t];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 128 * sizeof(float));
    cudaMalloc(&y, blocks * 128 * sizeof(float));
    cudaMemset(x, 0, blocks * 128 * sizeof(float));
    pairs<<<blocks, 128, 256 * sizeof(float)>>>(x, y);
    return cudaDeviceSynchronize();
}
