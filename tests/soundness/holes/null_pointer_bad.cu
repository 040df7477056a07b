// The bias is null for few elements, and nobody asks.
#include <cuda_runtime.h>

__global__ void shifted(const float* x, const float* bias, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    const float* b = n > 5000 ? bias : nullptr;
    float v = x[i];
    v += b[i];  //! not proved: bounds-global
    y[i] = v;
}

int main() {
    const int blocks = 100;
    float *x, *bias, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&bias, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    cudaMemset(bias, 0, blocks * 64 * sizeof(float));
    shifted<<<blocks, 64>>>(x, bias, y, blocks * 64);
    return cudaDeviceSynchronize();
}
