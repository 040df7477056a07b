// Each copy of a mutable lambda has its own copy of n: the last call gives 1100.
#include <cstdlib>
#include <functional>
#include <cuda_runtime.h>

__global__ void fill(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 1.0f;  //! not proved: bounds-global
}

int main(int argc, char **argv) {
    int n = 1000;
    float *y;
    cudaMalloc(&y, 1000 * sizeof(float));
    n = 800;
    auto less = [n](int by) mutable { n -= by; return n; };
    auto other = less;
    other(100);
    n = less(-300);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
