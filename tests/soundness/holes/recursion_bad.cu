// A recursion whose depth is data: no bound is known.
#include <cuda_runtime.h>

__device__ int follow(const int* next, int at, int n) {
    return at < 0 || at >= n ? at : follow(next, next[at], n);  //! not proved: termination
}

__global__ void walk(const int* next, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = follow(next, i, n);
}

int main() {
    const int n = 1000;
    int *next, *y;
    cudaMalloc(&next, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    cudaMemset(next, 0, n * sizeof(int));
    walk<<<(n + 127) / 128, 128>>>(next, y, n);
    return cudaDeviceSynchronize();
}
