// A negative start moves the pointer before the tensor.
#include <torch/extension.h>

__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];  //! not proved: bounds-global
}

torch::Tensor tail(torch::Tensor x, int64_t from) {
  TORCH_CHECK(from > -1000 && from < x.numel() && x.numel() < 1000000);
  int n = x.numel() - from;
  auto y = torch::empty({n}, x.options());
  copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>() + from, y.data_ptr<float>(), n);
  return y;
}
