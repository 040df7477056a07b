// The copy is made after the call, and has what the call left.
#include <cstdlib>
#include <functional>
#include <cuda_runtime.h>

__global__ void fill(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;
}

int main(int argc, char **argv) {
    int n = 1000;
    float *y;
    cudaMalloc(&y, 1000 * sizeof(float));
    n = 800;
    auto less = [n](int by) mutable { n -= by; return n; };
    less(100);
    auto other = less;
    n = other(-300);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
