// __syncwarp names just the lanes that come.
#include <cuda_runtime.h>

__global__ void halves(const float* x, float* y) {
    __shared__ float cell[32];
    int lane = threadIdx.x;
    float v = x[blockIdx.x * 32 + lane];
    if (lane < 16) {
        cell[lane] = v;
        __syncwarp(0x0000ffff);
        v = cell[15 - lane];
    }
    y[blockIdx.x * 32 + lane] = v;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 32 * sizeof(float));
    cudaMalloc(&y, blocks * 32 * sizeof(float));
    cudaMemset(x, 0, blocks * 32 * sizeof(float));
    halves<<<blocks, 32>>>(x, y);
    return cudaDeviceSynchronize();
}
