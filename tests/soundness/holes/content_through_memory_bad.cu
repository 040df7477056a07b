// Indices are written through a pointer that is kept in memory, and are no longer what the host made sure of.
#include <cuda_runtime.h>

__device__ void store(int** to, int i, int v) { (*to)[i] = v; }

__global__ void work(int* index, int* other, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* p = index;
    store(&p, i, 1 << 20);
    y[i] = x[index[i]];  //! refuted: bounds-global
}

int main() {
    const int n = 1000;
    int *index, *other;
    float *x, *y;
    cudaMalloc(&index, n * sizeof(int));
    cudaMalloc(&other, n * sizeof(int));
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(index, 0, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(index, other, x, y, n);
    return cudaDeviceSynchronize();
}
