// A shared flag decides about a barrier and changes only after another barrier.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void rounds(const int* work, int* y) {
    __shared__ int left;
    int t = threadIdx.x;
    if (t == 0) left = work[blockIdx.x];
    __syncthreads();
    int done = 0;
    while (left > 0 && done < 100) {
        ++done;
        __syncthreads();
        if (t == 0) left -= 1;
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = done;
}

int main() {
    const int blocks = 100;
    int *work, *y;
    cudaMalloc(&work, blocks * sizeof(int));
    cudaMalloc(&y, blocks * 64 * sizeof(int));
    std::vector<int> host(blocks);
    if (std::fread(host.data(), sizeof(int), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(work, host.data(), blocks * sizeof(int), cudaMemcpyHostToDevice);
    rounds<<<blocks, 64>>>(work, y);
    return cudaDeviceSynchronize();
}
