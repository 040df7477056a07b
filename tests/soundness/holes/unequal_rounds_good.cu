// Each thread runs the same number of rounds around a barrier.
#include <cuda_runtime.h>

__global__ void rounds(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 64) {
        tile[t] = first + t < n ? x[first + t] : 0.0f;
        __syncthreads();
        sum += tile[63 - t];
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
