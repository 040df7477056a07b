// A mutable lambda changes its copy of n in one branch only.
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
    n = 900;
    auto more = [n](int by) mutable { n += by; return n; };
    if (argc > 2) more(100);
    n = more(100);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
