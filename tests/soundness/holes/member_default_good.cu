// A list of initialisers leaves a member out that has a default: it is 64, which fits here.
#include <torch/extension.h>
struct Tile { int row; int width = 64; };
__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  Tile t{i};
  if (i < n) y[t.row + t.width] = x[i];
}
torch::Tensor f(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.numel() < 1000000);
  int n = x.numel();
  auto y = torch::empty({n + 64}, x.options());
  copy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
