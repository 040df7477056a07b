// One thread reads a word whose bytes the others are writing.
#include <cuda_runtime.h>

__global__ void pack(const unsigned char* x, unsigned* y) {
    __shared__ __align__(4) unsigned char bytes[128];
    int t = threadIdx.x;
    bytes[t] = x[blockIdx.x * 128 + t];
    if (t < 32) y[blockIdx.x * 32 + t] = reinterpret_cast<unsigned*>(bytes)[t];  //! refuted: race-shared
}

int main() {
    const int blocks = 100;
    unsigned char* x;
    unsigned* y;
    cudaMalloc(&x, blocks * 128);
    cudaMalloc(&y, blocks * 32 * sizeof(unsigned));
    cudaMemset(x, 0, blocks * 128);
    pack<<<blocks, 128>>>(x, y);
    return cudaDeviceSynchronize();
}
