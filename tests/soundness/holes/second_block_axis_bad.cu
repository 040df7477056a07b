// All 16 threads of a column write the same element (the block is 16 x 16).
#include <cuda_runtime.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = threadIdx.y;  //! refuted: race-global
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    fill<<<(n + 15) / 16, dim3(16, 16)>>>(y, n);
    return cudaDeviceSynchronize();
}
