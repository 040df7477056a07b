// The loop bound is read from memory once, before anything changes it.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void countdown(int* left, int* y) {
    int t = threadIdx.x;
    int rounds = 0;
    int want = left[blockIdx.x];
    while (want > rounds) {
        ++rounds;
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = rounds;
}

int main() {
    const int blocks = 100;
    int *left, *y;
    cudaMalloc(&left, blocks * sizeof(int));
    cudaMalloc(&y, blocks * 64 * sizeof(int));
    std::vector<int> host(blocks);
    if (std::fread(host.data(), sizeof(int), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(left, host.data(), blocks * sizeof(int), cudaMemcpyHostToDevice);
    countdown<<<blocks, 64>>>(left, y);
    return cudaDeviceSynchronize();
}
