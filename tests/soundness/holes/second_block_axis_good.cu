// One thread of each column writes (the block is 16 x 16).
#include <cuda_runtime.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && threadIdx.y == 0) y[i] = 1.0f;
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    fill<<<(n + 15) / 16, dim3(16, 16)>>>(y, n);
    return cudaDeviceSynchronize();
}
