// Shifting a 32-bit one by the thread number: up to 63.
#include <cuda_runtime.h>

__global__ void bits(unsigned* y) {
    unsigned bit = 1u << threadIdx.x;  //! refuted: arithmetic
    y[blockIdx.x * 64 + threadIdx.x] = y[blockIdx.x * 64 + (bit > 0 ? threadIdx.x : 0)] | bit;
}

int main() {
    const int blocks = 100;
    unsigned* y;
    cudaMalloc(&y, blocks * 64 * sizeof(unsigned));
    cudaMemset(y, 0, blocks * 64 * sizeof(unsigned));
    bits<<<blocks, 64>>>(y);
    return cudaDeviceSynchronize();
}
