// The second stream starts when the host has seen the first one end.
#include <cuda_runtime.h>

__global__ void gather(const float* table, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
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
    cudaStreamSynchronize(first);
    gather<<<(n + 255) / 256, 256, 0, second>>>(table, index, out, n);
    return cudaDeviceSynchronize();
}
