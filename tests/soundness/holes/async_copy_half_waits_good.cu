// All threads wait.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void sometimes(const float* x, float* y) {
    __shared__ __align__(16) float s[64];
    int t = threadIdx.x, i = blockIdx.x * 256;
    __pipeline_memcpy_async(&s[t], &x[i + t], 4);
    __pipeline_commit();
    if (t < 64) {
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    y[i + t] = s[63 - t];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    sometimes<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
