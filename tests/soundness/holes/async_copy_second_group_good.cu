// What the wait leaves in flight is not read.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void two_groups(const float* x, float* y) {
    __shared__ __align__(16) float s[2][64];
    int t = threadIdx.x, i = blockIdx.x * 256;
    __pipeline_memcpy_async(&s[0][t], &x[i + t], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1][t], &x[i + 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[i + t] = s[0][63 - t];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    two_groups<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
