// A function moves the pointer whose address it got, before it is read through once more.
#include <cuda_runtime.h>

__device__ float take(const float** from, int i) {
    float v = (*from)[i];
    if (v > 0.0f) *from = *from + 1;
    return v;
}

__global__ void work(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* p = b[i] > 0.0f ? a : b;
    float v = take(&p, i);
    y[i] = v + p[i];  //! refuted: bounds-global
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
