// The start is inside the tensor.
#include <torch/extension.h>

__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

torch::Tensor tail(torch::Tensor x, int64_t from) {
  TORCH_CHECK(from >= 0 && from < x.numel() && x.numel() < 1000000);
  int n = x.numel() - from;
  auto y = torch::empty({n}, x.options());
  copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>() + from, y.data_ptr<float>(), n);
  return y;
}
