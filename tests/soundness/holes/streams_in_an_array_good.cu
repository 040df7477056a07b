// Both launches are on one element of an array of streams.
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
    cudaStream_t streams[2];
    for (int i = 0; i < 2; ++i) cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    scale<<<(n + 255) / 256, 256, 0, streams[0]>>>(x, n, 2.0f);
    scale<<<(n + 255) / 256, 256, 0, streams[0]>>>(x, n, 3.0f);
    return cudaDeviceSynchronize();
}
