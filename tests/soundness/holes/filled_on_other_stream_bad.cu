// The indices are set to zero on one stream and read on another, and nothing makes the second wait.
#include <cuda_runtime.h>

__global__ void gather(const float* table, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float *table, *out;
    int* index;
    cudaMalloc(&table, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&index, n * sizeof(int));
    cudaMemset(table, 0, n * sizeof(float));
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaMemsetAsync(index, 0, n * sizeof(int), first);
    gather<<<(n + 255) / 256, 256, 0, second>>>(table, index, out, n);
    return cudaDeviceSynchronize();
}
