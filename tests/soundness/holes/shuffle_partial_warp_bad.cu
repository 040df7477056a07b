// A full-mask butterfly in a block of 48 threads: half of the last warp does not exist.
#include <cuda_runtime.h>

__global__ void warp_sums(const float* x, float* y) {
    int i = blockIdx.x * 48 + threadIdx.x;
    float v = x[i];
    for (int offset = 16; offset > 0; offset >>= 1) {
        v += __shfl_xor_sync(0xffffffff, v, offset);  //! refuted: barrier-divergence
    }
    y[i] = v;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    warp_sums<<<blocks, 48>>>(x, y);
    return cudaDeviceSynchronize();
}
