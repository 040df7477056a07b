// A positive multiple of 64 may be less than 128.
#include <torch/extension.h>

__global__ void first(const float* x, float* y, int n) {
  y[blockIdx.x * 128 + threadIdx.x] = x[(long long)blockIdx.x * n + threadIdx.x];  //! not proved: bounds-global
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat && x.dim() == 2);
  int rows = x.size(0), n = x.size(1);
  TORCH_CHECK(rows > 0 && rows < 65536 && n > 0 && n % 64 == 0);
  auto y = torch::empty({rows, 128}, x.options());
  first<<<rows, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
