// The counter is a local variable: every thread draws the same ticket.
#include <torch/extension.h>

__global__ void k(int* out, int* counter, int n) {
  if (blockIdx.x * 256 + threadIdx.x >= n) return;
  int own[1] = {0};
  int t = atomicAdd(&own[0], 1);
  if (t >= 0 && t < n) out[t] = threadIdx.x;  //! not proved: race-global
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.numel() > 0 && x.numel() < (1 << 20));
  auto out = torch::zeros({x.numel()}, x.options().dtype(torch::kInt32));
  auto counter = torch::zeros({1}, x.options().dtype(torch::kInt32));
  k<<<(x.numel() + 255) / 256, 256>>>(out.data_ptr<int>(), counter.data_ptr<int>(), x.numel());
  return out;
}
