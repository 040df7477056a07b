// The pointer to a function takes a value.
#include <cstdlib>
#include <cstdio>
#include <functional>
#include <cuda_runtime.h>

void print(int n) { printf("%d\n", n); }

__global__ void fill(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;
}

int main(int argc, char **argv) {
    int n = 1000;
    float *y;
    cudaMalloc(&y, 1000 * sizeof(float));
    void (*show)(int) = print;
    for (int i = 1; i < argc; i++) show(n);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
