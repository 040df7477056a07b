// volatile keeps the compiler from caching, but orders nothing between threads.
#include <cuda_runtime.h>

__global__ void swap_halves(const float* x, float* y) {
    __shared__ volatile float cell[128];
    int t = threadIdx.x;
    cell[t] = x[blockIdx.x * 128 + t];
    y[blockIdx.x * 128 + t] = cell[t ^ 64];  //! refuted: race-shared
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 128 * sizeof(float));
    cudaMalloc(&y, blocks * 128 * sizeof(float));
    cudaMemset(x, 0, blocks * 128 * sizeof(float));
    swap_halves<<<blocks, 128>>>(x, y);
    return cudaDeviceSynchronize();
}
