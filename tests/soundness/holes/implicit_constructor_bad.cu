// Nobody writes the call of the member's and the base's constructor: the index is 32 further on.
#include <torch/extension.h>
struct Shift { int by = 0; __device__ Shift() { by += 32; } };
struct Place : Shift { int at; __device__ Place(int i) : at(i) {} };
__global__ void move(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  Place p(i);
  if (p.at < n) y[p.at + p.by] = x[p.at];  //! refuted: bounds-global
}
torch::Tensor f(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.numel() < 1000000);
  int n = x.numel();
  auto y = torch::empty({n}, x.options());
  move<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
