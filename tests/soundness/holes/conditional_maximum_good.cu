// A maximum by conditional stores: every element was stored before, whatever the comparisons say.
#include <cuda_runtime.h>
__global__ void k(const float* x, float* y, int n, int rows) {
    extern __shared__ float all[];
    float* hi = all;
    float* total = all + blockDim.x;
    int b = blockIdx.x, t = threadIdx.x;
    if (b >= rows) return;
    float m = -1e30f;
    for (int i = t; i < n; i += blockDim.x) { float v = x[b * n + i]; if (v > m) m = v; }
    hi[threadIdx.x] = m;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) { if (hi[threadIdx.x] < hi[threadIdx.x + s]) hi[threadIdx.x] = hi[threadIdx.x + s]; }
        __syncthreads();
    }
    m = hi[0];
    __syncthreads();
    float sum = 0;
    for (int i = t; i < n; i += blockDim.x) sum += x[b * n + i] - m;
    total[t] = sum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) total[t] += total[t + s];
        __syncthreads();
    }
    sum = total[0];
    if (t == 0) y[b] = sum;
}
int main() {
    int n = 1000;
    float *x, *y;
    cudaMalloc(&x, 64 * n * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMemset(x, 0, 64 * n * sizeof(float));
    k<<<64, 512, 2 * 512 * sizeof(float)>>>(x, y, n, 64);
    return cudaDeviceSynchronize();
}
