// A search loop that finds nothing ends with the index one past the end, which is then used.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void first_zero(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int local[8];
    for (int k = 0; k < 8; ++k) local[k] = x[8 * (size_t)i + k];
    int j = 0;
    for (; j < 8; ++j) {
        if (local[j] == 0) break;
    }
    local[j] = 1;  //! refuted: bounds-local
    y[i] = local[0] + local[7];
}

int main() {
    const int n = 1000;
    int *x, *y;
    cudaMalloc(&x, 8 * (size_t)n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    std::vector<int> host(8 * (size_t)n);
    if (std::fread(host.data(), sizeof(int), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), 8 * (size_t)n * sizeof(int), cudaMemcpyHostToDevice);
    first_zero<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
