// Each thread runs its own number of rounds around a barrier.
#include <cuda_runtime.h>

__global__ void rounds(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += 64) {
        tile[t] = x[i];
        __syncthreads();  //! refuted: barrier-divergence
        sum += tile[t];
        __syncthreads();
    }
    y[t] = sum;
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    rounds<<<1, 64>>>(x, y, n);
    return cudaDeviceSynchronize();
}
