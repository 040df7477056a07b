// A shuffle makes lanes meet but orders no memory; __syncwarp does.
#include <cuda_runtime.h>

__global__ void exchange(const float* x, float* y) {
    __shared__ float cell[32];
    int lane = threadIdx.x;
    cell[lane] = x[blockIdx.x * 32 + lane];
    float v = __shfl_xor_sync(0xffffffff, 1.0f, 1);
    __syncwarp();
    y[blockIdx.x * 32 + lane] = v + cell[lane ^ 1];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 32 * sizeof(float));
    cudaMalloc(&y, blocks * 32 * sizeof(float));
    cudaMemset(x, 0, blocks * 32 * sizeof(float));
    exchange<<<blocks, 32>>>(x, y);
    return cudaDeviceSynchronize();
}
