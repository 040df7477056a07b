// A function that is no method does the same to another variable.
#include <cstdlib>
#include <functional>
#include <cuda_runtime.h>

void twice(int &n) { n *= 2; }

__global__ void fill(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;
}

int main(int argc, char **argv) {
    int n = 1000;
    float *y;
    cudaMalloc(&y, 1000 * sizeof(float));
    int m = 1;
    for (int i = 1; i < argc; i++) twice(m);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
