// A negative int compared with blockDim.x is a huge unsigned number: the loop never starts.
#include <cuda_runtime.h>

__global__ void fill(int* y) {
    __shared__ int cell[128];
    for (int j = (int)threadIdx.x - 32; j < blockDim.x; j += 128) {
        if (j >= 0) cell[j] = j;
    }
    __syncthreads();
    y[blockIdx.x * 128 + threadIdx.x] = cell[threadIdx.x];  //! refuted: uninitialized
}

int main() {
    const int blocks = 100;
    int* y;
    cudaMalloc(&y, blocks * 128 * sizeof(int));
    fill<<<blocks, 128>>>(y);
    return cudaDeviceSynchronize();
}
