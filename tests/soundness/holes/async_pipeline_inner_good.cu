// The inner rounds read the other buffer.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void pipelined(const float* x, float* y, int tiles, int rounds) {
    __shared__ __align__(16) float s[2][64];
    int t = threadIdx.x, i = blockIdx.x * (tiles + 1) * 64;
    float sum = 0.0f;
    s[0][t] = s[1][t] = 0.0f;
    __syncthreads();
    __pipeline_memcpy_async(&s[0][t], &x[i + t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        for (int r = 0; r < rounds; r++) {
            __syncthreads();
            sum += s[(k + 1) % 2][63 - t];
        }
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[k % 2][63 - t];
        __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[i + (k + 1) * 64 + t], 4);
        __pipeline_commit();
    }
    y[blockIdx.x * 64 + t] = sum;
}

int main() {
    const int blocks = 100, tiles = 64;
    float *x, *y;
    cudaMalloc(&x, blocks * (tiles + 1) * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * (tiles + 1) * 64 * sizeof(float));
    pipelined<<<blocks, 64>>>(x, y, tiles, 3);
    return cudaDeviceSynchronize();
}
