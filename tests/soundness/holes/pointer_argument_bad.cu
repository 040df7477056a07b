// A helper changes the index through a pointer, and nobody checks it afterwards.
#include <cuda_runtime.h>

__device__ void skip_header(int* index) { *index += 4; }

__global__ void payload(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int j = i;
    skip_header(&j);
    y[i] = x[j];  //! refuted: bounds-global
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    payload<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
