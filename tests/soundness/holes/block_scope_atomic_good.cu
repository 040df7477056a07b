// An atomic of device scope.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void count(const float* x, int* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        atomicAdd(&total[0], 1);
    }
}

int main() {
    const int n = 1000;
    float* x;
    int* total;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&total, sizeof(int));
    std::vector<float> host(n);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof(int));
    count<<<(n + 127) / 128, 128>>>(x, total, n);
    return cudaDeviceSynchronize();
}
