// A helper changes the index through a reference, before the guard.
#include <cuda_runtime.h>

__device__ void advance(int& index, int by) { index += by; }

__global__ void payload(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = i;
    advance(j, 4);
    if (j < n) {
        y[i] = x[j];
    }
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    payload<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
