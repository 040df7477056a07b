// A statement before the condition of an if or a switch is executed: the index is 8 further on.
#include <torch/extension.h>
__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  int k = i;
  switch (k += 8; i & 1) {
    case 0: y[k] = x[i]; break;  //! not proved: bounds-global
    default: y[k] = -x[i];
  }
}
torch::Tensor f(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.numel() < 1000000);
  int n = x.numel();
  auto y = torch::empty({n}, x.options());
  copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
