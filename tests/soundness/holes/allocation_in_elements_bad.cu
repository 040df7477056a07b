// cudaMalloc counts bytes: n of them hold a quarter of the floats.
#include <cuda_runtime.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.0f;  //! refuted: bounds-global
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n);
    fill<<<(n + 127) / 128, 128>>>(y, n);
    return cudaDeviceSynchronize();
}
