// Offsets start as zeros, but a slice of them is filled: slice() is a view of the same memory.
#include <torch/extension.h>

__global__ void gather(const float *x, const int64_t *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]];  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x, torch::Tensor ends) {
  int n = x.numel();
  auto at = torch::zeros({n}, x.options().dtype(torch::kLong));
  at.slice(0, 1).copy_(ends);
  auto y = torch::empty_like(x);
  if (n > 0) gather<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), at.data_ptr<int64_t>(), y.data_ptr<float>(), n);
  return y;
}
