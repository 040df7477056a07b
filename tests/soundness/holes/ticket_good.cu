// Each thread that keeps its element draws a number of its own.
#include <cuda_runtime.h>

__global__ void keep(const int* x, int* out, unsigned* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] != 5) out[atomicAdd(count, 1u)] = x[i];
}

int main() {
    const int n = 1000;
    int *x, *out;
    unsigned* count;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&out, 4 * n * sizeof(int));
    cudaMalloc(&count, 2 * sizeof(unsigned));
    cudaMemset(x, 0, n * sizeof(int));
    cudaMemset(count, 0, 2 * sizeof(unsigned));
    keep<<<(n + 127) / 128, 128>>>(x, out, count, n);
    return cudaDeviceSynchronize();
}
