// The halo cell is written by one thread and read by its neighbour without a barrier.
#include <cuda_runtime.h>

__global__ void difference(const float* x, float* y, int n) {
    __shared__ float tile[129];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    tile[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (t == 0) tile[128] = i + 128 < n ? x[i + 128] : 0.0f;
    if (i < n) y[i] = tile[t + 1] - tile[t];  //! refuted: race-shared
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    difference<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
