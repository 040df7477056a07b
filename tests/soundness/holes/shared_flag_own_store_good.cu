// One thread stores, and all read after a barrier.
#include <cuda_runtime.h>

__global__ void k(float* y, int n) {
    __shared__ int one;
    int t = threadIdx.x, v = 0;
    for (int r = 0; r < n; r++) {
        if (v >= 0 && t == 0) one = t + r;
        __syncthreads();
        v = one;
        __syncthreads();
    }
    y[blockIdx.x * 256 + t] = v;
}

int main() {
    float* y;
    cudaMalloc(&y, 4 * 256 * sizeof(float));
    k<<<4, 256>>>(y, 5);
    return cudaDeviceSynchronize();
}
