// The same branches, inside of the buffer.
#include <cuda_runtime.h>

__global__ void in_place(const float* x, float* y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (x == y) {
        if (x != nullptr) {
            y[i] = 1.0f;
        }
        return;
    }
    y[i] = x[i];
}

int main() {
    const int blocks = 100;
    float* x;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    in_place<<<blocks, 64>>>(x, x);
    return cudaDeviceSynchronize();
}
