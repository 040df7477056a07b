// The program's own size wraps in 32 bits: y has no element at all.
#include <cuda_runtime.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

int main() {
    const unsigned n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * 4096u);
    cudaMemset(x, 0, n * sizeof(float));
    copy<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
