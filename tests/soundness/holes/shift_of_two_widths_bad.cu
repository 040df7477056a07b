// A shift in 32 bits and one in 64 bits by the same count are two values: 1 << 39 is not below 2^32.
#include <cuda_runtime.h>

__global__ void bits(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = i % 40;
    float sum = count < 32 && (1u << count) == 8u ? 1.0f : 0.0f;
    unsigned long long wide = 1ull << count;
    if (wide > 0xffffffffull) sum += x[n];  //! refuted: bounds-global
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
