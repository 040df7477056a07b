// Two rounds later the buffer is filled again, while a slow thread may still read the round before the last.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void sums(const float* x, float* y) {
    __shared__ __align__(16) float s[2][64];
    int t = threadIdx.x, i = blockIdx.x * 256;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        __pipeline_memcpy_async(&s[0][t], &x[i + 64 * k + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[0][63 - t];  //! not proved: race-shared
    }
    y[i + t] = sum;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    sums<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
