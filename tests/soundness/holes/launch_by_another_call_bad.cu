// A second launch, by cudaLaunchKernelEx, that covers more than the arrays hold.
#include <cuda_runtime.h>

__global__ void gather(const float* table, const int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[index[i]];  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float *table, *y;
    int* index;
    cudaMalloc(&table, 100 * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&index, n * sizeof(int));
    cudaMemset(table, 0, 100 * sizeof(float));
    cudaMemset(index, 0, n * sizeof(int));
    gather<<<(n + 255) / 256, 256>>>(table, index, y, n);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + 255) / 256);
    config.blockDim = dim3(256);
    cudaLaunchKernelEx(&config, gather, (const float*)table, (const int*)index, y, n + 24);
    return cudaDeviceSynchronize();
}
