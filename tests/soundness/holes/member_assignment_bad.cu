// The implicit assignment of the outer class calls that of its member, which stores another value.
#include <torch/extension.h>
struct Index { int at; __device__ Index& operator=(const Index& o) { at = o.at + 8; return *this; } };
struct Cell { Index index; float value; };
__global__ void move(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  Cell from, to;
  from.index.at = i;
  from.value = x[i];
  to = from;
  y[to.index.at] = to.value;  //! not proved: bounds-global
}
torch::Tensor f(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.numel() < 1000000);
  int n = x.numel();
  auto y = torch::empty({n}, x.options());
  move<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
