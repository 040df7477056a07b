// Each round of the outer loop makes rounds of the inner one, which end with a barrier.
#include <cuda_runtime.h>

__global__ void work(const float* a, float* y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = 1.0f;
    __syncthreads();
    for (int k = 1; k < n; ++k) {
        if (k % 2 == 0) s[t] = k;
        if (k % 2 == 1 && i < n) y[i] = s[(t + 1) % 128] + a[i];
        for (int j = k; j > 0; j /= 2) __syncthreads();
    }
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
