// The host changes an index after the kernel has ended.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void gather(const float* table, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1024;
  if (n <= 8 || n > 1000000) return 1;
  float *table, *out;
  int* index;
  if (cudaMalloc(&table, 100 * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMalloc(&out, n * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMallocManaged(&index, n * sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(table, 0, 100 * sizeof(float));
  cudaMemset(index, 0, n * sizeof(int));
  gather<<<(n + 255) / 256, 256>>>(table, index, out, n);
  cudaDeviceSynchronize();
  index[3] = 7777;
  return 0;
}
