// Launchers of every usual shape of host code; tests/contracts/test_oracle.py runs them with random tensors.
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <algorithm>

#define CHECK_INPUT(t) TORCH_CHECK(t.is_cuda() && t.is_contiguous(), #t " must be a contiguous CUDA tensor")
#define CEIL(a, b) (((a) + (b) - 1) / (b))

namespace { constexpr int kThreads = 128; constexpr int64_t kMost = 65535; }

__global__ void flat(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
__global__ void flat64(const float *__restrict__ x, float *__restrict__ y, int64_t n) { for (int64_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i]; }
template <typename T, int TILE> __global__ void tiled(const T *a, const T *b, T *c, int m, int n, int k) { __shared__ T s[TILE]; s[threadIdx.x] = a[0]; c[0] = s[0] + b[0]; }
__global__ void rows(const float *x, float *y, int height, int width) { extern __shared__ float s[]; s[threadIdx.x] = x[blockIdx.x * width]; y[blockIdx.x] = s[0]; }
__global__ void affine(const float *x, const float *weight, const float *bias, float *y, int n, float eps, bool has) { if (threadIdx.x < n && has) y[threadIdx.x] = x[threadIdx.x] * weight[0] + bias[0] + eps; }
__global__ void two(const float *x, float *partial, int n) { partial[blockIdx.x] = x[0] + n; }
__global__ void fold(const float *partial, float *out, int blocks) { out[0] = partial[blocks - 1]; }
__global__ void pool(const float *x, float *y, int h, int w, int oh, int ow, int k, int stride, int pad) { y[0] = x[0] + h + w + oh + ow + k + stride + pad; }
__global__ void gather(const float *table, const int64_t *index, float *y, int64_t rows, int width) { y[threadIdx.x] = table[index[0] * width]; }
__global__ void level(float *x, int step) { x[threadIdx.x] += step; }
__global__ void vec4(const float4 *x, float4 *y, int n4) { if (threadIdx.x < n4) y[threadIdx.x] = x[threadIdx.x]; }

torch::Tensor ceil_div(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  flat<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
torch::Tensor capped(torch::Tensor x) {
  CHECK_INPUT(x);
  const int64_t n = x.numel();
  auto y = torch::empty({n}, x.options());
  if (n == 0) return y;
  const int blocks = static_cast<int>(std::min<int64_t>(CEIL(n, kThreads), kMost));
  const at::cuda::OptionalCUDAGuard guard(x.device());
  flat64<<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
torch::Tensor made_contiguous(torch::Tensor x) {
  auto c = x.contiguous();
  auto y = torch::zeros(x.sizes(), x.options());
  flat<<<1, 64>>>(c.data_ptr<float>(), y.data_ptr<float>(), (int)c.numel());
  return y;
}
torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "matrices");
  TORCH_CHECK(a.size(1) == b.size(0), "inner sizes");
  int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options());
  dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "product", [&] {
    tiled<scalar_t, 16><<<grid, block>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), c.data_ptr<scalar_t>(), m, n, k);
  });
  return c;
}
torch::Tensor by_row(const torch::Tensor &x, int64_t threads) {
  TORCH_CHECK(x.dim() == 2);
  TORCH_CHECK(threads > 0 && threads <= 1024, "threads");
  auto y = torch::full({x.size(0)}, 1, x.options());
  int block = 32;
  while (block < threads) block *= 2;
  rows<<<x.size(0), block, block * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
  return y;
}
torch::Tensor last_dim(torch::Tensor x) {
  int64_t width = x.size(-1);
  int64_t height = x.numel() / width;
  auto flatx = x.view({-1, width});
  auto y = torch::empty({height}, x.options());
  rows<<<flatx.size(0), 32, 128>>>(flatx.data_ptr<float>(), y.data_ptr<float>(), flatx.size(0), flatx.size(1));
  return y;
}
torch::Tensor maybe_affine(torch::Tensor x, std::optional<torch::Tensor> weight, std::optional<torch::Tensor> bias, double eps) {
  auto y = torch::empty_like(x);
  const float *w = weight.has_value() ? weight->data_ptr<float>() : nullptr;
  const float *b = nullptr;
  if (bias.has_value()) {
    TORCH_CHECK(bias->numel() == x.size(-1), "bias");
    b = bias->data_ptr<float>();
  }
  affine<<<1, 32>>>(x.data_ptr<float>(), w, b, y.data_ptr<float>(), x.numel(), (float)eps, w != nullptr);
  return y;
}
torch::Tensor sum_in_two(torch::Tensor x) {
  int n = x.numel();
  int blocks = std::max(1, std::min(256, (n + 1023) / 1024));
  auto partial = torch::empty({blocks}, x.options().dtype(torch::kFloat));
  auto out = torch::zeros({}, x.options());
  two<<<blocks, 256>>>(x.data_ptr<float>(), partial.data_ptr<float>(), n);
  fold<<<1, 1>>>(partial.data_ptr<float>(), out.data_ptr<float>(), blocks);
  return out;
}
torch::Tensor pooled(torch::Tensor x, int64_t k, int64_t stride, int64_t pad) {
  TORCH_CHECK(x.dim() == 4, "NCHW");
  TORCH_CHECK(k > 0 && stride > 0 && pad >= 0 && pad <= k / 2);
  const int h = x.size(2), w = x.size(3);
  const int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
  TORCH_CHECK(oh > 0 && ow > 0);
  auto y = torch::empty({x.size(0), x.size(1), oh, ow}, x.options());
  dim3 block(16, 16), grid(CEIL(ow, 16), CEIL(oh, 16), x.size(0) * x.size(1));
  pool<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), h, w, oh, ow, k, stride, pad);
  return y;
}
torch::Tensor looked_up(torch::Tensor table, torch::Tensor index) {
  TORCH_CHECK(index.scalar_type() == torch::kLong && table.dim() == 2);
  auto flat_index = index.flatten();
  auto y = torch::empty({flat_index.size(0), table.size(1)}, table.options());
  gather<<<flat_index.size(0), 64>>>(table.data_ptr<float>(), flat_index.data_ptr<int64_t>(), y.data_ptr<float>(), table.size(0), table.size(1));
  return y;
}
torch::Tensor levels(torch::Tensor x) {
  auto y = x.clone();
  for (int step = 1; step < 64; step *= 2) level<<<1, step>>>(y.data_ptr<float>(), step);
  return y;
}
torch::Tensor batches(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 3 && x.is_contiguous());
  auto y = torch::empty_like(x);
  for (int64_t b = 0; b < x.size(0); ++b)
    flat<<<1, 32>>>(x[b].data_ptr<float>(), y.data_ptr<float>() + b * x.size(1) * x.size(2), x.size(1) * x.size(2));
  return y;
}
torch::Tensor vectors(torch::Tensor x) {
  TORCH_CHECK(x.numel() % 4 == 0);
  auto y = torch::empty_like(x);
  int n4 = x.numel() / 4;
  vec4<<<CEIL(n4, 256), 256>>>(reinterpret_cast<const float4 *>(x.data_ptr<float>()), reinterpret_cast<float4 *>(y.data_ptr<float>()), n4);
  return y;
}
torch::Tensor either(torch::Tensor x, bool big, int64_t d) {
  auto t = x.transpose(0, 1);
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  if (big && x.size(0) > 4) flat<<<2, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0));
  else if (d < 0) throw std::runtime_error("d");
  else flat<<<3, 32>>>(t.contiguous().data_ptr<float>(), y.data_ptr<float>(), d);
  return y;
}
torch::Tensor same_shapes(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.sizes() == b.sizes(), "shapes");
  a = a.contiguous();
  b = b.to(a.scalar_type());
  auto c = torch::ones_like(a);
  tiled<float, 8><<<a.size(0), 8>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), a.numel(), b.numel(), a.dim());
  return c;
}
static torch::Tensor helper(const torch::Tensor &t, int scale) {
  auto out = torch::empty({t.numel() * scale}, t.options());
  flat<<<scale, 32>>>(t.data_ptr<float>(), out.data_ptr<float>(), t.numel());
  return out;
}
torch::Tensor through_helper(torch::Tensor x) { return helper(x.reshape({-1}), x.dim() > 2 ? 3 : 2); }
torch::Tensor shapes_of_others(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty({x.size(0), w.size(0)}, x.options());
  const unsigned blocks = (x.size(0) * w.size(0) + 255u) / 256u;
  flat<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0) * w.size(0));
  flat<<<blocks, 256>>>(w.data_ptr<float>(), y.data_ptr<float>(), w.size(0));
  return y;
}
torch::Tensor narrowed(torch::Tensor x) {
  auto y = torch::empty_like(x);
  short n = x.numel();
  unsigned char width = x.size(-1);
  flat<<<width, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
torch::Tensor in_place(torch::Tensor x) {
  level<<<1, 32>>>(x.data_ptr<float>(), x.dim());
  return x;
}
torch::Tensor rank_switch(torch::Tensor x) {
  auto y = torch::empty_like(x);
  switch (x.dim()) {
    case 1: flat<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0)); break;
    case 2: rows<<<x.size(0), 32, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1)); break;
    default: TORCH_CHECK(false, "rank");
  }
  return y;
}
