// What is filled is a view of a copy.
#include <torch/extension.h>

__global__ void gather(const float *x, const int64_t *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]];
}

torch::Tensor run(torch::Tensor x, torch::Tensor ends) {
  int n = x.numel();
  auto at = torch::zeros({n}, x.options().dtype(torch::kLong));
  auto other = at.clone();
  other.view({-1}).copy_(ends);
  auto y = torch::empty_like(x);
  if (n > 0) gather<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), at.data_ptr<int64_t>(), y.data_ptr<float>(), n);
  return y;
}
