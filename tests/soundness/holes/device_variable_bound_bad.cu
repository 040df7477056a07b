// The initial value of a __device__ variable is no fact: the host may have changed it.
#include <cuda_runtime.h>

__device__ int limit = 128;

__global__ void fill(int* y) {
    __shared__ int cell[128];
    int t = threadIdx.x;
    if (t < 128) cell[t] = 0;
    __syncthreads();
    if (t < limit) cell[t] = t;  //! not proved: bounds-shared
    __syncthreads();
    y[blockIdx.x * 256 + t] = cell[t % 128];
}

int main() {
    const int blocks = 100;
    int* y;
    cudaMalloc(&y, blocks * 256 * sizeof(int));
    int wider = 256;
    cudaMemcpyToSymbol(limit, &wider, sizeof(int));
    fill<<<blocks, 256>>>(y);
    return cudaDeviceSynchronize();
}
