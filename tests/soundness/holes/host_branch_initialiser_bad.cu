// The host code has a statement before the condition of a switch: one row more is written than y has.
#include <torch/extension.h>
__global__ void fill(float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 1.f;  //! not proved: bounds-global
}
torch::Tensor f(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.numel() < 1000000);
  int n = x.numel(), k = n;
  auto y = torch::empty({n}, x.options());
  switch (k += 8; n) {
    case 3: break;
    default: break;
  }
  fill<<<(n + 500) / 256, 256>>>(y.data_ptr<float>(), k);
  return y;
}
