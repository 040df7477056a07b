// The counter may wrap, but 2^32 is a multiple of the stride: no two threads ever reach the same element.
#include <cuda_runtime.h>

__global__ void mark(unsigned char* seen, const unsigned* size) {
    const unsigned stride = blockDim.x * gridDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < *size; i += stride) seen[i & 0xffffff] = 1;
}

int main() {
    unsigned char* seen;
    unsigned* size;
    cudaMalloc(&seen, 1 << 24);
    cudaMalloc(&size, sizeof(unsigned));
    cudaMemset(size, 0, sizeof(unsigned));
    mark<<<64, 256>>>(seen, size);
    return cudaDeviceSynchronize();
}
