// The clause makes the whole kernel dead: there is nothing to prove, which is no proof.
#include <cuda_runtime.h>

//@ requires n <= 0
__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 0) x[i] *= 2.0f;  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(x, n);
    return cudaDeviceSynchronize();
}
