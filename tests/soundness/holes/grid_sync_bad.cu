// Grid synchronisation in an ordinary launch of any size: not all blocks need be resident.
#include <cuda_runtime.h>
#include <cooperative_groups.h>

__global__ void two_steps(float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
    cooperative_groups::this_grid().sync();  //! not proved: termination
    if (i < n) y[i] = x[n - 1 - i];
}

int main() {
    const int n = 100000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    two_steps<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
