// The shared tile is filled with zeros where there is no input.
#include <cuda_runtime.h>

__global__ void reverse_sum(const float* x, float* y, int n) {
    __shared__ float tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = x[i] + tile[127 - threadIdx.x];
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    reverse_sum<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
