// Threads of the last block return before its barrier.
#include <cuda_runtime.h>

__global__ void reverse_blocks(const float* x, float* y, int n) {
    __shared__ float tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads();  //! refuted: barrier-divergence
    y[i] = tile[threadIdx.x];
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    reverse_blocks<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
