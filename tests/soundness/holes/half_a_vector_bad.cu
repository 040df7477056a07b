// One member of each vector is written, all of them are read.
#include <cuda_runtime.h>

__global__ void reversed(const float* x, float* y) {
    __shared__ float4 s[64];
    int t = threadIdx.x, i = blockIdx.x * 64;
    s[t].x = x[i + t];
    __syncthreads();
    float4 v = s[63 - t];  //! refuted: uninitialized
    y[i + t] = v.x + v.w;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    reversed<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
