// Right for one element only, and the submission's own clause says that one is enough: never a PASS.
#include <cuda_runtime.h>

//@ requires n <= 1
__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i + n - 1] *= 2.0f;  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(x, n);
    return cudaDeviceSynchronize();
}
