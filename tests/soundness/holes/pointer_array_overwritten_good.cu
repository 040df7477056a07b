// Elements of an array of pointers are replaced after they were used.
#include <cuda_runtime.h>

__global__ void work(float* a, float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* out[2] = {a, b};
    if (i >= n) return;
    for (int j = 0; j < n; ++j) {
        out[0][i] += 1.0f;
        if (j > 5) break;
    }
    out[1] = y;
    out[1][i] = 1.0f;
}

int main() {
    const int n = 1000;
    float *a, *b, *y;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(a, 63, n * sizeof(float));
    cudaMemset(b, 63, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(a, b, y, n);
    return cudaDeviceSynchronize();
}
