// Tree reduction with `s >>= 1` and no barrier in the loop.
#include <cuda_runtime.h>

__global__ void reduce(const float* x, float* y) {
    __shared__ float scratch[256];
    int t = threadIdx.x;
    scratch[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) scratch[t] += scratch[t + s];  //! refuted: race-shared
    }
    if (t == 0) y[blockIdx.x] = scratch[0];
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    reduce<<<blocks, 256>>>(x, y);
    return cudaDeviceSynchronize();
}
