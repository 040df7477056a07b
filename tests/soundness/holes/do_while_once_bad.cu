// The body of a do-while runs once before its guard.
#include <cuda_runtime.h>

__global__ void clear(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        y[i] = 0.0f;  //! refuted: bounds-global
        i += gridDim.x * blockDim.x;
    } while (i < n);
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    clear<<<64, 128>>>(y, n);
    return cudaDeviceSynchronize();
}
