// The program itself is larger than the usual cap, and only there its index wraps.
#include <cuda_runtime.h>

__global__ void copy(const float* x, float* y, long long n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

int main() {
    const long long n = 3000000000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    copy<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
