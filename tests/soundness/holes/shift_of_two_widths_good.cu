// The 64-bit shift is past 2^32 exactly where the count is at least 32: an element that exists.
#include <cuda_runtime.h>

__global__ void bits(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = i % 40;
    float sum = count < 32 && (1u << count) == 8u ? 1.0f : 0.0f;
    unsigned long long wide = 1ull << count;
    if (wide > 0xffffffffull) sum += x[i - 32];
    y[i] = sum;
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    bits<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
