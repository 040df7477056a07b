// A __device__ counter keeps its value from launch to launch, so it is compared with the size.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__device__ unsigned used = 0;

__global__ void compact(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        unsigned k = atomicAdd(&used, 1u);
        if (k < (unsigned)n) y[k] = x[i];
    }
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    std::vector<float> host(n);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    compact<<<(n + 127) / 128, 128>>>(x, y, n);
    compact<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
