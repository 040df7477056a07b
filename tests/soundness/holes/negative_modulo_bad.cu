// C's remainder takes the sign of the dividend: (0 - 1) % n is -1.
#include <cuda_runtime.h>

__global__ void rotate(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[(i - 1) % n];  //! refuted: bounds-global
    }
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    rotate<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
