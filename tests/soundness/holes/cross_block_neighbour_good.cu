// A block barrier orders nothing between blocks, and each block reads back only its own element.
#include <cuda_runtime.h>

__global__ void exchange(int* y, int* z) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) y[b] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        z[b] = y[b];
    }
}

int main() {
    const int blocks = 100;
    int *y, *z;
    cudaMalloc(&y, blocks * sizeof(int));
    cudaMalloc(&z, blocks * sizeof(int));
    cudaMemset(y, 0, blocks * sizeof(int));
    exchange<<<blocks, 64>>>(y, z);
    return cudaDeviceSynchronize();
}
