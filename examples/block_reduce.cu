// Sum of a vector: each block reduces a grid-stride slice in shared memory, a second launch adds their sums.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void block_sum(const float* x, float* partial, int n) {
    extern __shared__ float scratch[];
    const int tid = threadIdx.x;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    scratch[tid] = sum;
    __syncthreads();

    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

int main() {
    const int n = 1000003;
    const int block = 256;
    int grid = (n + block - 1) / block;
    if (grid > 1024) grid = 1024;

    std::vector<float> host(n, 0.5f);
    float *x, *partial, *total;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&partial, grid * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&total, sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    block_sum<<<grid, block, block * sizeof(float)>>>(x, partial, n);
    block_sum<<<1, block, block * sizeof(float)>>>(partial, total, grid);

    float sum = 0.0f;
    cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("sum = %f (want %f)\n", sum, 0.5f * n);
    cudaFree(x);
    cudaFree(partial);
    cudaFree(total);
    return EXIT_SUCCESS;
}
