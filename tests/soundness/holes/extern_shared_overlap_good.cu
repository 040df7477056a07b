// The second array is carved out behind the first.
#include <cuda_runtime.h>

extern __shared__ float left[];

__global__ void pairs(const float* x, float* y) {
    int t = threadIdx.x;
    float* right = left + 128;
    left[t] = x[blockIdx.x * 128 + t];
    right[127 - t] = x[blockIdx.x * 128 + t];
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
