// Two launches write one buffer, one after the other on one stream.
#include <cuda_runtime.h>

__global__ void scale(float* x, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}

int main() {
    const int n = 1000;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    scale<<<(n + 255) / 256, 256, 0, first>>>(x, n, 2.0f);
    scale<<<(n + 255) / 256, 256, 0, first>>>(x, n, 3.0f);
    return cudaDeviceSynchronize();
}
