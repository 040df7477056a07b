// n - 3 wraps to four billion when n is 1.
#include <cuda_runtime.h>

__global__ void shift(const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 3) {
        y[i] = x[i + 3];  //! refuted: bounds-global
    }
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    shift<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
