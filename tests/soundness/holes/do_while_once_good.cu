// The guard comes first.
#include <cuda_runtime.h>

__global__ void clear(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        y[i] = 0.0f;
        i += gridDim.x * blockDim.x;
    }
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    clear<<<64, 128>>>(y, n);
    return cudaDeviceSynchronize();
}
