// A thread waits for a flag that another block sets: if that block is not resident, for ever.
#include <cuda_runtime.h>

__global__ void hand_over(volatile int* flag, float* y) {
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0) {
            while (flag[blockIdx.x - 1] == 0) {  //! not proved: termination
            }
        }
        y[blockIdx.x] = 1.0f;
        flag[blockIdx.x] = 1;
    }
}

int main() {
    const int blocks = 1000;
    int* flag;
    float* y;
    cudaMalloc(&flag, blocks * sizeof(int));
    cudaMalloc(&y, blocks * sizeof(float));
    cudaMemset(flag, 0, blocks * sizeof(int));
    hand_over<<<blocks, 32>>>(flag, y);
    return cudaDeviceSynchronize();
}
