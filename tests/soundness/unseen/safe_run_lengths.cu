// Where runs of equal keys begin and end, and how far each element lies from the start of its block's run.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void run_edges(const int* __restrict__ keys, int* __restrict__ head, int* __restrict__ tail, int n) {
    __shared__ int cell[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    if (n > i) cell[t] = keys[i];
    __syncthreads();
    if (n > i) {
        int before = -1, after = -1;
        if (t > 0) before = cell[t - 1];
        if (t == 0 && i > 0) before = keys[i - 1];
        if (255 > t && n > i + 1) after = cell[t + 1];
        if (t == 255 && n > i + 1) after = keys[i + 1];
        head[i] = before != cell[t];
        tail[i] = after != cell[t];
    }
}

__global__ void distances(const int* __restrict__ head, int* __restrict__ distance, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > i) {
        int k = i;
        while (k > 0 && head[k] == 0) k--;
        distance[i] = i - k;
        if (i - k > 0 && i > 0) distance[i] += head[i - 1];
    }
}

int main() {
    const int n = 50000;
    int *keys, *head, *tail, *distance;
    if (cudaMalloc(&keys, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&head, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&tail, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&distance, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(keys, 0, n * sizeof(int));
    run_edges<<<(n + 255) / 256, 256>>>(keys, head, tail, n);
    distances<<<(n + 255) / 256, 256>>>(head, distance, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
