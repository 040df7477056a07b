// The function is chosen by the size, and one of the two writes behind the buffer.
#include <cuda_runtime.h>

typedef void (*Store)(float*, int);

__device__ void here(float* y, int i) { y[i] = 1.0f; }
__device__ void behind(float* y, int i) { y[i + 1] = 1.0f; }  //! not proved: bounds-global

__global__ void apply(float* y, int n) {
    Store store = n > 1000 ? behind : here;
    store(y, blockIdx.x * 64 + threadIdx.x);
}

int main() {
    const int blocks = 100;
    float* y;
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    apply<<<blocks, 64>>>(y, blocks * 64);
    return cudaDeviceSynchronize();
}
