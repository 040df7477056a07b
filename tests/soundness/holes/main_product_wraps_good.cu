// The size of y is computed in 64 bits.
#include <cuda_runtime.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];
}

int main() {
    const unsigned n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float) * 4);
    cudaMemset(x, 0, n * sizeof(float));
    copy<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
