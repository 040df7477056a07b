// The size of dynamic shared memory may be more than a block can have.
#include <cuda_runtime.h>
int elsewhere(int);  // its value is not known here
__global__ void scale(float* x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) x[i] = 2.f;
}
int main() {
  const int n = 1000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<(n + 255) / 256, 256, elsewhere(1)>>>(x, n);  //! not proved: launch
  return cudaDeviceSynchronize();
}
