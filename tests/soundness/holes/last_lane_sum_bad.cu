// The last lane of each warp but one stores what the others read.
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, int n) {
    __shared__ float part[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    if (threadIdx.x % 32 == 31 && threadIdx.x < 224) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (i < n) y[i] = v + part[threadIdx.x / 32];  //! refuted: uninitialized
}

int main() {
    int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    k<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaDeviceSynchronize();
}
