// Histogram of bytes: a private copy in shared memory for each block, added to the result with atomics.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int BINS = 256;

__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
    __shared__ unsigned int local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        if (local[b] != 0) atomicAdd(&bins[b], local[b]);
    }
}

int main() {
    const int n = 3000000;
    unsigned char* data;
    unsigned int* bins;
    if (cudaMalloc(&data, n) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&bins, BINS * sizeof(unsigned int)) != cudaSuccess) return EXIT_FAILURE;
    std::vector<unsigned char> host(n, 7);
    cudaMemcpy(data, host.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, BINS * sizeof(unsigned int));
    histogram<<<256, 192>>>(data, bins, n);
    unsigned int seven = 0;
    cudaMemcpy(&seven, bins + 7, sizeof(seven), cudaMemcpyDeviceToHost);
    std::printf("%u\n", seven);
    return EXIT_SUCCESS;
}
