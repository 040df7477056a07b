//! not proved: uninitialized
// The second half of a pair is never written.
#include <cuda_fp16.h>
#include <torch/extension.h>

__global__ void pair(const half* x, half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half2 p;
  half table[2][2] = {__float2half(0.f)};
  p.x = __hadd(x[i], table[1][1]);
  y[i] = __hadd(p.x, p.y);
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == at::kHalf && x.numel() > 0 && x.numel() < 100000);
  auto y = torch::empty_like(x);
  int n = x.numel();
  pair<<<(n + 255) / 256, 256>>>((half*)x.data_ptr<at::Half>(), (half*)y.data_ptr<at::Half>(), n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
