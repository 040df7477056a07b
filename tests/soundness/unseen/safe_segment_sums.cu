// Sums, counts and greatest values of the elements with equal keys.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void clear(float* sums, int* counts, int* top, int segments) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    sums[s] = 0.0f;
    counts[s] = 0;
    top[s] = 0;
}

__global__ void collect(const int* keys, const float* values, float* sums, int* counts, int* top, int* outside,
                        int n, int segments) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = keys[i];
    if (key >= 0 && key < segments) {
        float v = values[i];
        atomicAdd(&sums[key], v);
        atomicAdd(&counts[key], 1);
        if (v > 0.0f && v < 1000000.0f) atomicMax(&top[key], static_cast<int>(v));
    } else {
        atomicAdd(outside, 1);
    }
}

int main() {
    const int n = 1 << 20, segments = 1000;
    int *keys, *counts, *top, *outside;
    float *values, *sums;
    if (cudaMalloc(&keys, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&values, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&sums, segments * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&counts, segments * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&top, segments * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&outside, sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(keys, 0, n * sizeof(int));
    cudaMemset(values, 0, n * sizeof(float));
    cudaMemset(outside, 0, sizeof(int));
    clear<<<(segments + 255) / 256, 256>>>(sums, counts, top, segments);
    collect<<<(n + 255) / 256, 256>>>(keys, values, sums, counts, top, outside, n, segments);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
