// The counter wraps at a byte, and 256 is a multiple of the stride of 64: each thread keeps to its own elements.
#include <cuda_runtime.h>

__global__ void mark(int* seen) {
    unsigned char i = threadIdx.x;
    for (int round = 0; round < 64; ++round, i += 64) seen[i] = threadIdx.x;
}

int main() {
    int* seen;
    cudaMalloc(&seen, 256 * sizeof(int));
    mark<<<1, 64>>>(seen);
    return cudaDeviceSynchronize();
}
