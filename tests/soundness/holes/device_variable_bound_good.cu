// A constexpr is a fact.
#include <cuda_runtime.h>

constexpr int limit = 128;

__global__ void fill(int* y) {
    __shared__ int cell[128];
    int t = threadIdx.x;
    if (t < 128) cell[t] = 0;
    __syncthreads();
    if (t < limit) cell[t] = t;
    __syncthreads();
    y[blockIdx.x * 256 + t] = cell[t % 128];
}

int main() {
    const int blocks = 100;
    int* y;
    cudaMalloc(&y, blocks * 256 * sizeof(int));
    fill<<<blocks, 256>>>(y);
    return cudaDeviceSynchronize();
}
