// A 16-byte store against a 4-byte load inside it.
#include <cuda_runtime.h>

__global__ void widen(const float4* x, float* y) {
    __shared__ __align__(16) float tile[256];
    int t = threadIdx.x;
    reinterpret_cast<float4*>(tile)[t] = x[blockIdx.x * 64 + t];
    y[blockIdx.x * 64 + t] = tile[(4 * t + 5) % 256];  //! refuted: race-shared
}

int main() {
    const int blocks = 100;
    float4* x;
    float* y;
    cudaMalloc(&x, blocks * 64 * sizeof(float4));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float4));
    widen<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
