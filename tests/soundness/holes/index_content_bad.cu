// An index read from memory is used as it is.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void gather(const float* table, const int* index, float* out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int j = index[i];
    out[i] = table[j];  //! not proved: bounds-global
}

int main() {
    const int rows = 500;
    const int n = 1000;
    float *table, *out;
    int* index;
    cudaMalloc(&table, rows * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&index, n * sizeof(int));
    cudaMemset(table, 0, rows * sizeof(float));
    std::vector<int> host(n);
    if (std::fread(host.data(), sizeof(int), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(index, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    gather<<<(n + 127) / 128, 128>>>(table, index, out, rows, n);
    return cudaDeviceSynchronize();
}
