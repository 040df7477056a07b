// An index array that gets contents that are in range.
#include <cuda_runtime.h>

__global__ void relabel(int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    index[i] = n - 1 - i;
    y[index[i]] = 1.0f;
}

int main() {
    const int n = 1000;
    int* index;
    float* y;
    cudaMalloc(&index, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(float));
    relabel<<<(n + 127) / 128, 128>>>(index, y, n);
    return cudaDeviceSynchronize();
}
