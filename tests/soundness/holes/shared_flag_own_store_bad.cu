// Each thread reads back what all of them stored in one place: what it stored itself says nothing of the others.
#include <cuda_runtime.h>

__global__ void k(float* y, int n) {
    __shared__ int one;
    int t = threadIdx.x, v = 0;
    for (int r = 0; r < n; r++) {
        if (v >= 0) one = t + r;  //! refuted: race-shared
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
