#include <cuda_runtime.h>
// The kernel is given a pointer to what is before its memory.
__global__ void fill(float* x) {
  x[threadIdx.x] = 2.f;  //! not proved: bounds-global
}
int main() {
  float *x;
  cudaMalloc(&x, 256 * sizeof(float));
  fill<<<1, 256>>>(x - 1);
  return cudaDeviceSynchronize();
}
