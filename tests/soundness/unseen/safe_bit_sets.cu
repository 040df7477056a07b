// Sets of small numbers as bits: which numbers occur, which occur everywhere, and the parity of each.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void bit_sets(const unsigned* keys, unsigned* any, unsigned* every, unsigned* parity, int n, int words) {
    __shared__ unsigned seen[32];
    __shared__ unsigned odd[32];
    if (threadIdx.x < 32) {
        seen[threadIdx.x] = 0u;
        odd[threadIdx.x] = 0u;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned key = keys[i];
        atomicOr(&seen[(key >> 5) & 31u], 1u << (key & 31u));
        atomicXor(&odd[(key >> 5) & 31u], 1u << (key & 31u));
    }
    __syncthreads();
    if (threadIdx.x < words && threadIdx.x < 32) {
        atomicOr(&any[threadIdx.x], seen[threadIdx.x]);
        atomicAnd(&every[threadIdx.x], seen[threadIdx.x]);
        atomicXor(&parity[threadIdx.x], odd[threadIdx.x]);
    }
}

int main() {
    const int n = 500000, words = 32;
    unsigned *keys, *any, *every, *parity;
    if (cudaMalloc(&keys, n * sizeof(unsigned)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&any, words * sizeof(unsigned)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&every, words * sizeof(unsigned)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&parity, words * sizeof(unsigned)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(keys, 5, n * sizeof(unsigned));
    cudaMemset(any, 0, words * sizeof(unsigned));
    cudaMemset(every, 255, words * sizeof(unsigned));
    cudaMemset(parity, 0, words * sizeof(unsigned));
    bit_sets<<<(n + 127) / 128, 128>>>(keys, any, every, parity, n, words);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
