// In the last round nothing is prefetched, and the wait leaves the only group, which is this round's.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void pipelined(const float* x, float* y, int tiles) {
    __shared__ __align__(16) float s[2][64];
    int t = threadIdx.x, i = blockIdx.x * tiles * 64;
    float sum = 0.0f;
    __pipeline_memcpy_async(&s[0][t], &x[i + t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[i + (k + 1) * 64 + t], 4);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(1);
        }
        __syncthreads();
        sum += s[k % 2][63 - t];  //! not proved: uninitialized
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = sum;
}

int main() {
    const int blocks = 100, tiles = 64;
    float *x, *y;
    cudaMalloc(&x, blocks * tiles * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * tiles * 64 * sizeof(float));
    pipelined<<<blocks, 64>>>(x, y, tiles);
    return cudaDeviceSynchronize();
}
