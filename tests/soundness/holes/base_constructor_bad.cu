// The constructor of the base class stores: into an element that the guard does not cover.
#include <torch/extension.h>
struct Marked {
  int at;
  __device__ Marked(float* p, int i) : at(i) { p[i] = 0.f; }  //! refuted: bounds-global
};
struct Cell : Marked {
  float value;
  __device__ Cell(float* p, int i, float v) : Marked(p, i), value(v) {}
};
__global__ void fill(float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  Cell c(y, i, 1.f);
  if (c.at < n) y[c.at] = c.value;
}
torch::Tensor f(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.numel() < 1000000);
  int n = x.numel();
  auto y = torch::empty({n}, x.options());
  fill<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);
  return y;
}
