// Which function the host passes is not known, and one of them writes behind the buffer.
#include <cuda_runtime.h>

typedef void (*Store)(float*, int);

__device__ void here(float* y, int i) { y[i] = 1.0f; }
__device__ void behind(float* y, int i) { y[i + 1] = 1.0f; }  //! not proved: bounds-global
__device__ Store first = here;
__device__ Store second = behind;

__global__ void apply(Store store, float* y) {
    store(y, blockIdx.x * 64 + threadIdx.x);
}

int main() {
    const int blocks = 100;
    float* y;
    Store chosen;
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMemcpyFromSymbol(&chosen, second, sizeof(Store));
    apply<<<blocks, 64>>>(chosen, y);
    return cudaDeviceSynchronize();
}
