// The copy that is in flight goes to a part of its own.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void two_rounds(const float* x, float* y) {
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x, i = blockIdx.x * 256;
    s[t] = x[i + t];
    __syncthreads();
    float v = s[(t + 1) % 64];
    __syncthreads();
    __pipeline_memcpy_async(&s[64 + t], &x[i + t], 4);
    __pipeline_commit();
    __syncthreads();
    s[t] = v;
    __syncthreads();
    y[i + t] = s[63 - t];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    two_rounds<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
