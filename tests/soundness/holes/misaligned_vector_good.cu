// float4 needs 16-byte alignment: the start of an allocation has it.
#include <cuda_runtime.h>

__global__ void copy(const float4* x, float4* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, (4 * (size_t)n + 4) * sizeof(float));
    cudaMalloc(&y, 4 * (size_t)n * sizeof(float));
    cudaMemset(x, 0, (4 * (size_t)n + 4) * sizeof(float));
    copy<<<(n + 127) / 128, 128>>>(reinterpret_cast<float4*>(x), reinterpret_cast<float4*>(y), n);
    return cudaDeviceSynchronize();
}
