// ReLU with 16-byte loads for the bulk and single elements for the last n % 4.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void relu(const float* x, float* y, int n) {
    const int vectors = n / 4;
    const int stride = gridDim.x * blockDim.x;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4* y4 = reinterpret_cast<float4*>(y);
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < vectors; i += stride) {
        float4 v = x4[i];
        v.x = fmaxf(v.x, 0.0f);
        v.y = fmaxf(v.y, 0.0f);
        v.z = fmaxf(v.z, 0.0f);
        v.w = fmaxf(v.w, 0.0f);
        y4[i] = v;
    }
    const int rest = vectors * 4 + first;
    if (first < n % 4) y[rest] = fmaxf(x[rest], 0.0f);
}

int main() {
    const int n = 1000001;
    float *x, *y;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&y, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    std::vector<float> host(n, -1.0f);
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    relu<<<512, 256>>>(x, y, n);
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", host[n - 1]);
    cudaFree(x);
    cudaFree(y);
    return EXIT_SUCCESS;
}
