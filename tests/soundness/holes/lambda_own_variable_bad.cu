// A lambda's own variable leads to the size, which the call makes larger than the buffers.
#include <cuda_runtime.h>

__global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

int main() {
    int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    auto grow = [&size = n] { size += 1000; };
    grow();
    copy<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
