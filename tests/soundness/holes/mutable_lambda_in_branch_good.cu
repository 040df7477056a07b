// A lambda that changes no copy gives the same whenever it is called.
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
    n = 900;
    auto more = [n](int by) { return n + by; };
    if (argc > 2) more(100);
    n = more(100);
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
