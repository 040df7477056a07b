// Each thread reads what it alone writes.
#include <torch/extension.h>

__global__ void k(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  int a = s[threadIdx.x], b = s[threadIdx.x];
  if (a != b) out[0] = threadIdx.x;
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.numel() > 0 && x.numel() < (1 << 20));
  auto out = torch::zeros({x.numel()}, x.options().dtype(torch::kInt32));
  k<<<(x.numel() + 255) / 256, 256>>>(out.data_ptr<int>());
  return out;
}
