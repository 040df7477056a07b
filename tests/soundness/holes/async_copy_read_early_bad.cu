// Each thread reads what it copied itself, but the copy engine may not be done: nobody waits.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void reversed(const float* x, float* y) {
    __shared__ __align__(16) float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256;
    __pipeline_memcpy_async(&s[4 * t], &x[i + 4 * t], 16);
    __pipeline_commit();
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        y[i + 4 * t + k] = s[4 * t + k];  //! not proved: race-shared
    }
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    reversed<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
