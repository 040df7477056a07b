#include <cuda_runtime.h>
// One thread less, one element on.
__global__ void fill(float* x) {
  x[threadIdx.x] = 2.f;
}
int main() {
  float *x;
  cudaMalloc(&x, 256 * sizeof(float));
  fill<<<1, 255>>>(x + 1);
  return cudaDeviceSynchronize();
}
