// Strides from 64 down.
#include <cuda_runtime.h>

__global__ void work(const float* a, float* y, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int k = t; k < 1024; k += 128) s[k] = i < n ? a[i] : 0.0f;
    for (int stride = n > 500 ? 64 : 32; stride > 0; stride /= 2) {
        __syncthreads();
        int first = 2 * t - (t & (stride - 1));
        float v = s[first];
        s[first] = s[first + stride];
        s[first + stride] = v;
    }
    __syncthreads();
    if (i < n) y[i] = s[t];
}

int main() {
    const int n = 1000;
    float *a, *y;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(a, 63, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(a, y, n);
    return cudaDeviceSynchronize();
}
