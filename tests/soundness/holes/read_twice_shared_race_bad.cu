// A race in shared memory lets two reads differ: several threads of several blocks then write out[0].
#include <torch/extension.h>

__global__ void k(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  s[0] = threadIdx.x;
  int a = s[0], b = s[0];
  if (a != b) out[0] = threadIdx.x;  //! not proved: race-global
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.numel() > 0 && x.numel() < (1 << 20));
  auto out = torch::zeros({x.numel()}, x.options().dtype(torch::kInt32));
  k<<<(x.numel() + 255) / 256, 256>>>(out.data_ptr<int>());
  return out;
}
