// Every second float begins in the middle of two elements: 2 * i bytes are no multiple of four.
#include <cuda_runtime.h>

__global__ void halves(const float* x, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = *reinterpret_cast<const float*>(reinterpret_cast<const char*>(x) + 2 * i);  //! refuted: alignment
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    halves<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
