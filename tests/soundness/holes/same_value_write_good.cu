// One thread writes the element.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void any_negative(const float* x, int* found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0.0f) found[i] = 1;
}

int main() {
    const int n = 1000;
    float* x;
    int* found;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&found, n * sizeof(int));
    std::vector<float> host(n);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(found, 0, n * sizeof(int));
    any_negative<<<(n + 127) / 128, 128>>>(x, found, n);
    return cudaDeviceSynchronize();
}
