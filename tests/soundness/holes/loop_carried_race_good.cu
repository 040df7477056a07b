// The tile of the next round is stored after a second barrier.
#include <cuda_runtime.h>

__global__ void row_sums(const float* x, float* y, int rounds) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k) {
        tile[t] = x[(size_t)k * 64 + t];
        __syncthreads();
        for (int j = 0; j < 64; ++j) sum += tile[j];
        __syncthreads();
    }
    y[t] = sum;
}

int main() {
    const int rounds = 20;
    float *x, *y;
    cudaMalloc(&x, (size_t)rounds * 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMemset(x, 0, (size_t)rounds * 64 * sizeof(float));
    row_sums<<<1, 64>>>(x, y, rounds);
    return cudaDeviceSynchronize();
}
