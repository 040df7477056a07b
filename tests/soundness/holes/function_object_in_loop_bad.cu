// A function object changes the variable that it gets by reference, in a loop that launches nothing.
#include <cstdlib>
#include <cstdio>
#include <functional>
#include <cuda_runtime.h>

void twice(int &n) { n *= 2; }

__global__ void fill(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;  //! not proved: bounds-global
}

int main(int argc, char **argv) {
    int n = 1000;
    float *y;
    cudaMalloc(&y, 1000 * sizeof(float));
    std::function<void(int &)> grow = twice;
    for (int i = 1; i < argc; i++) grow(n);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
