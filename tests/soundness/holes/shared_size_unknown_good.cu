// The size of dynamic shared memory is known.
#include <cuda_runtime.h>
constexpr int elsewhere(int a) { return 1024 * a; }
__global__ void scale(float* x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) x[i] = 2.f;
}
int main() {
  const int n = 1000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<(n + 255) / 256, 256, elsewhere(1)>>>(x, n);
  return cudaDeviceSynchronize();
}
