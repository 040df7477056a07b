// One template, two instantiations: both fit.
#include <cuda_runtime.h>

template <int THREADS>
__global__ void reverse(const float* x, float* y) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = x[(size_t)blockIdx.x * THREADS + t];
    __syncthreads();
    y[(size_t)blockIdx.x * THREADS + t] = tile[THREADS - 1 - t];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, (size_t)blocks * 512 * sizeof(float));
    cudaMalloc(&y, (size_t)blocks * 512 * sizeof(float));
    cudaMemset(x, 0, (size_t)blocks * 512 * sizeof(float));
    reverse<128><<<blocks, 128>>>(x, y);
    reverse<256><<<blocks, 256>>>(x, y);
    return cudaDeviceSynchronize();
}
