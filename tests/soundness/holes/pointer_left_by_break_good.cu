// A pointer whose address is taken stays what it was when the loop is left early.
#include <cuda_runtime.h>

__device__ void choose(float** p, float* to) { *p = to; }

__global__ void work(float* a, float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* p = y;
    choose(&p, y);
    for (int j = 0; j < n; ++j) {
        if (a[i] + b[j] > 1.0f) {
            choose(&p, y);
            break;
        }
    }
    p[i] = 1.0f;
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
