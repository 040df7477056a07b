// A barrier orders no copy that is still in flight: it may land on the later store, or after it.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void two_rounds(const float* x, float* y) {
    __shared__ __align__(16) float s[64];
    int t = threadIdx.x, i = blockIdx.x * 256;
    s[t] = x[i + t];
    __syncthreads();
    float v = s[(t + 1) % 64];
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &x[i + t], 4);
    __pipeline_commit();
    __syncthreads();
    s[t] = v;  //! not proved: race-shared
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
