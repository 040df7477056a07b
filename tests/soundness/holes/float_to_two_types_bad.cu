// A float as unsigned and as int: that the unsigned is not negative says nothing of the int.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void both(const float* x, const float* table, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = (unsigned)x[i];
    int k = (int)x[i];
    y[i] = (u < 64 ? 1.0f : 2.0f) + (k < 64 ? table[k] : 0.0f);  //! refuted: bounds-global
}

int main() {
    const int n = 1000;
    float *x, *table, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&table, 64 * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    std::vector<float> host(n);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(table, 0, 64 * sizeof(float));
    both<<<(n + 127) / 128, 128>>>(x, table, y, n);
    return cudaDeviceSynchronize();
}
