// Two pointers into one shared array, and no barrier between the write through one and the read through the other.
#include <cuda_runtime.h>

__global__ void shift(const float* x, float* y) {
    __shared__ float cell[129];
    int t = threadIdx.x;
    float* here = cell;
    float* next = cell + 1;
    if (t == 0) cell[128] = 0.0f;
    here[t] = x[blockIdx.x * 128 + t];
    y[blockIdx.x * 128 + t] = next[t];  //! refuted: race-shared
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 128 * sizeof(float));
    cudaMalloc(&y, blocks * 128 * sizeof(float));
    cudaMemset(x, 0, blocks * 128 * sizeof(float));
    shift<<<blocks, 128>>>(x, y);
    return cudaDeviceSynchronize();
}
