// The counter wraps at a byte, and 256 is no multiple of the stride of 48: threads meet after it has wrapped.
#include <cuda_runtime.h>

__global__ void mark(int* seen) {
    unsigned char i = threadIdx.x;
    for (int round = 0; round < 64; ++round, i += 48) seen[i] = threadIdx.x;  //! refuted: race-global
}

int main() {
    int* seen;
    cudaMalloc(&seen, 256 * sizeof(int));
    mark<<<1, 48>>>(seen);
    return cudaDeviceSynchronize();
}
