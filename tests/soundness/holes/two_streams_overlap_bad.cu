// Two streams write memory that overlaps: one pointer is the start of it, the other one ten elements further on.
#include <cuda_runtime.h>

__global__ void fill(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0f;  //! not proved: race-global
}

__global__ void clear(float* rest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) rest[i] = 0.0f;
}

int main() {
    const int n = 1000;
    float *y, *z;
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    fill<<<(n + 255) / 256, 256, 0, a>>>(y, n);
    clear<<<(n + 255) / 256, 256, 0, b>>>(y + 10, n - 10);
    return cudaDeviceSynchronize();
}
