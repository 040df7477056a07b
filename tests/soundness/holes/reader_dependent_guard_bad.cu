// A guard that only one of the compilers sees: the audited program would not be the one that runs.
#include <cuda_runtime.h>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__clang__)
    if (i < n)
#endif
        x[i] *= 2.0f;  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(x, n);
    return cudaDeviceSynchronize();
}
