// The last warp of a tree reduction orders its steps with __syncwarp.
#include <cuda_runtime.h>

__global__ void reduce(const float* x, float* y) {
    __shared__ float scratch[64];
    int t = threadIdx.x;
    scratch[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        scratch[t] += scratch[t + 32];
        for (int s = 16; s > 0; s >>= 1) {
            __syncwarp();
            float v = scratch[t] + scratch[t + s];
            __syncwarp();
            scratch[t] = v;
        }
        if (t == 0) y[blockIdx.x] = scratch[0];
    }
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * sizeof(float));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    reduce<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
