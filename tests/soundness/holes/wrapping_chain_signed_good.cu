// At the end of a chain of unsigned operations that wrap a signed one that keeps its type.
#include <torch/extension.h>

__global__ void k(const int* x, int* out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = i;
  a = a * 3u + b; b = b * 5u + a; a = a * 7u + b; b = b * 11u + a; a = a * 13u + b; b = b * 17u + a;
  a = a * 19u + b; b = b * 23u + a; a = a * 29u + b; b = b * 31u + a; a = a * 37u + b; b = b * 41u + a;
  int c = (int)(b >> 2) + 1;
  if (c >= 0 && c < n) out[i] = x[c]; else out[i] = 0;
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kInt32);
  TORCH_CHECK(x.numel() > 0 && x.numel() < (1 << 20));
  auto out = torch::empty_like(x);
  int n = x.numel();
  k<<<(n + 255) / 256, 256>>>(x.data_ptr<int>(), out.data_ptr<int>(), n);
  return out;
}
