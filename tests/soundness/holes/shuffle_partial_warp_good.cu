// A full-mask butterfly in a block of 64 threads.
#include <cuda_runtime.h>

__global__ void warp_sums(const float* x, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = x[i];
    for (int offset = 16; offset > 0; offset >>= 1) {
        v += __shfl_xor_sync(0xffffffff, v, offset);
    }
    y[i] = v;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    warp_sums<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
