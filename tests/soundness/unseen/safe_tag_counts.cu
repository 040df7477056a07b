// Words of a token stream: counts of tags, of pairs of tags and of tags that open a line; unknown tags are dropped.
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int TAGS = 24;

__global__ void count_tags(const int* __restrict__ tag, const int* __restrict__ line, int* singles, int* pairs,
                           int* openers, int* longest, int n) {
    __shared__ int own[TAGS];
    __shared__ int first[TAGS];
    for (int k = threadIdx.x; k < TAGS; k += blockDim.x) {
        own[k] = 0;
        first[k] = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > i) {
        const int a = tag[i];
        if (a >= 0 && TAGS > a) {
            atomicAdd(&own[a], 1);
            if (i == 0 || (i > 0 && line[i - 1] != line[i])) atomicAdd(&first[a], 1);
            if (n > i + 1) {
                const int b = tag[i + 1];
                if (b >= 0 && TAGS > b) atomicAdd(&pairs[a * TAGS + b], 1);
            }
            atomicMax(&longest[a], line[i]);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < TAGS; k += blockDim.x) {
        atomicAdd(&singles[k], own[k]);
        atomicAdd(&openers[k], first[k]);
    }
}

int main() {
    const int n = 200000;
    int *tag, *line, *singles, *pairs, *openers, *longest;
    if (cudaMalloc(&tag, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&line, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&singles, TAGS * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&pairs, TAGS * TAGS * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&openers, TAGS * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&longest, TAGS * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(tag, 0, n * sizeof(int));
    cudaMemset(line, 0, n * sizeof(int));
    cudaMemset(singles, 0, TAGS * sizeof(int));
    cudaMemset(pairs, 0, TAGS * TAGS * sizeof(int));
    cudaMemset(openers, 0, TAGS * sizeof(int));
    cudaMemset(longest, 0, TAGS * sizeof(int));
    count_tags<<<(n + 255) / 256, 256>>>(tag, line, singles, pairs, openers, longest, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
