// A store through a number that is the address of the indices changes what was checked.
#include <cuda_runtime.h>

__global__ void gather(const float* x, int* index, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    size_t address = (size_t)(index + i);
    if (index[i] >= 0 && index[i] < 6400) {
        *(int*)(address) = 6400;
        y[i] = x[index[i]];  //! not proved: bounds-global
    }
}

int main() {
    const int blocks = 100;
    float *x, *y;
    int* index;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    cudaMalloc(&index, blocks * 64 * sizeof(int));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    cudaMemset(index, 0, blocks * 64 * sizeof(int));
    gather<<<blocks, 64>>>(x, index, y);
    return cudaDeviceSynchronize();
}
