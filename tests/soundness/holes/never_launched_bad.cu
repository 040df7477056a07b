// No launch in the file: nothing is known of the sizes.
#include <cuda_runtime.h>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    return cudaDeviceSynchronize();
}
