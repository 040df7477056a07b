// The inner loop makes a round with a barrier in every round of the outer one.
#include <cuda_runtime.h>

__global__ void work(const float* a, float* y, int n) {
    __shared__ float s[2][128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        s[k & 1][t] = i < n ? a[i] : 0.0f;
        for (int j = 0; j < (k & 1) + 1; ++j) __syncthreads();
        sum += s[k & 1][(t + 1) % 128];
    }
    if (i < n) y[i] = sum;
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
