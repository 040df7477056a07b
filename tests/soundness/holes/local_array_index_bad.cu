// A register array of 8 elements is indexed with four bits.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void histogram(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int counts[8];
    for (int k = 0; k < 8; ++k) counts[k] = 0;
    for (int j = i; j < n; j += gridDim.x * blockDim.x) {
        counts[x[j] & 15] += 1;  //! not proved: bounds-local
    }
    if (i < n) y[i] = counts[0] + counts[7];
}

int main() {
    const int n = 1000;
    int *x, *y;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    std::vector<int> host(n);
    if (std::fread(host.data(), sizeof(int), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    histogram<<<16, 64>>>(x, y, n);
    return cudaDeviceSynchronize();
}
