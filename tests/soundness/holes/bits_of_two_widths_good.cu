// The exclusive or of two numbers as int and as long long; what is read exists in any case.
#include <cuda_runtime.h>

__global__ void bits(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long far = (long long)i * 40000, near = threadIdx.x * 3 + 1;
    float sum = 0.0f;
    if (far < 1000) sum = ((int)far ^ (int)near) > 5 ? x[0] : x[i];
    if ((far ^ near) > 4000000000LL) sum += x[n - 1];
    y[i] = sum;
}

int main() {
    const int n = 200000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    bits<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
