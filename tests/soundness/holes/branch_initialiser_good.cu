// A statement before the condition of an if or a switch is executed; here it stands before the switch.
#include <torch/extension.h>
__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  int k = i;
  k += 0;
  switch (i & 1) {
    case 0: y[k] = x[i]; break;
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
