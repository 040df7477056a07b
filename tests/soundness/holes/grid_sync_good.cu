// Grid synchronisation is not needed where the work is two launches.
#include <cuda_runtime.h>

__global__ void first_step(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}

__global__ void second_step(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}

int main() {
    const int n = 100000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    first_step<<<(n + 255) / 256, 256>>>(x, n);
    second_step<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
