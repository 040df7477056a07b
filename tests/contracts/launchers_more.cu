// More host code of every kind; tests/contracts/test_oracle.py runs it with random tensors. Gaps are allowed here.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <vector>

__global__ void flat(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
__global__ void vec4(const float4 *x, float4 *y, int n4) { if (threadIdx.x < n4) y[threadIdx.x] = x[threadIdx.x]; }
__global__ void plane(const float *x, float *y, int b, int c, int h, int w) { y[0] = x[0] + b + c + h + w; }
__global__ void rows(const float *x, float *y, int height, int width) { y[blockIdx.x] = x[blockIdx.x * width]; }
__global__ void words(const int *x, int *y, unsigned n, bool up) { if (threadIdx.x < n && up) y[threadIdx.x] = x[threadIdx.x]; }
template <int BLOCK, bool BIAS> __global__ void fixed(const float *x, const float *b, float *y, int n) { y[0] = x[0] + (BIAS ? b[0] : 0) + n + BLOCK; }
template <typename T> __global__ void typed(const T *x, T *y, int64_t n, int64_t stride) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x * stride]; }
template <typename T> __global__ void strided(torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> x, float *y) { y[0] = x[0][0]; }

static bool aligned(const void *p, int bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }
torch::Tensor either_width(torch::Tensor x) {
  TORCH_CHECK(x.is_contiguous());
  auto y = torch::empty_like(x);
  const int n = x.numel();
  const float *p = x.data_ptr<float>();
  float *q = y.data_ptr<float>();
  if (n % 4 == 0 && aligned(p, 16) && aligned(q, 16))
    vec4<<<(n / 4 + 255) / 256, 256>>>(reinterpret_cast<const float4 *>(p), reinterpret_cast<float4 *>(q), n / 4);
  else
    flat<<<(n + 255) / 256, 256>>>(p, q, n);
  return y;
}
torch::Tensor checked_alignment(torch::Tensor x) {
  TORCH_CHECK((reinterpret_cast<uint64_t>(x.data_ptr<float>()) & 15) == 0, "alignment");
  TORCH_CHECK(x.dim() == 1);
  auto y = torch::zeros({x.size(0)}, x.options());
  vec4<<<1, 32>>>(reinterpret_cast<const float4 *>(x.data_ptr<float>()), reinterpret_cast<float4 *>(y.data_ptr<float>()), x.size(0) / 4);
  return y;
}
torch::Tensor by_device(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  int blocks = std::min((int)((x.numel() + 255) / 256), 4 * sms);
  flat<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
torch::Tensor by_occupancy(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, flat, 0, 0);
  int n = x.numel();
  grid = (n + block - 1) / block;
  flat<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
template <int BLOCK> void launch_fixed(const torch::Tensor &x, const torch::Tensor &b, torch::Tensor &y, bool bias) {
  const int n = x.numel();
  if (bias) fixed<BLOCK, true><<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), n);
  else fixed<BLOCK, false><<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x.data_ptr<float>(), nullptr, y.data_ptr<float>(), n);
}
torch::Tensor chosen_block(torch::Tensor x, std::optional<torch::Tensor> b) {
  auto y = torch::empty_like(x);
  bool bias = b.has_value() && b->defined();
  torch::Tensor held = bias ? b.value() : torch::Tensor();
  if (x.size(-1) <= 64) launch_fixed<64>(x, held, y, bias);
  else if (x.size(-1) <= 256) launch_fixed<256>(x, held, y, bias);
  else launch_fixed<1024>(x, held, y, bias);
  return y;
}
std::vector<torch::Tensor> several(torch::Tensor x, torch::Tensor w) {
  const auto sizes = x.sizes();
  TORCH_CHECK(sizes.size() == 4, "rank");
  const auto b = sizes[0], c = sizes[1], h = sizes[2], width = sizes[3];
  TORCH_CHECK_EQ(w.size(0), c);
  auto mean = torch::empty({c}, x.options()), out = torch::empty({b, c, h, width}, x.options());
  plane<<<c, 128>>>(x.data_ptr<float>(), mean.data_ptr<float>(), b, c, h, width);
  plane<<<dim3((width + 31) / 32, (h + 7) / 8, b * c), dim3(32, 8)>>>(w.data_ptr<float>(), out.data_ptr<float>(), b, c, h, width);
  plane<<<b, c>>>(mean.data_ptr<float>(), out.data_ptr<float>(), b, c, h, width);
  return {mean, out};
}
torch::Tensor permuted(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 3);
  auto t = x.permute({0, 2, 1}).contiguous();
  auto y = torch::empty({t.size(0), t.size(1)}, t.options());
  rows<<<t.size(0) * t.size(1), 32>>>(t.data_ptr<float>(), y.data_ptr<float>(), t.size(0) * t.size(1), t.size(2));
  return y;
}
torch::Tensor reshaped(torch::Tensor x, int64_t groups) {
  TORCH_CHECK(groups > 0 && x.numel() % groups == 0);
  auto g = x.reshape({groups, -1});
  auto y = torch::empty({groups}, x.options());
  rows<<<groups, 64>>>(g.data_ptr<float>(), y.data_ptr<float>(), groups, g.size(1));
  return y;
}
torch::Tensor sliced(torch::Tensor x, int64_t from) {
  TORCH_CHECK(x.dim() == 2 && from >= 0 && from < x.size(0));
  auto part = x.slice(0, from, x.size(0));
  auto one = x.select(0, from);
  auto y = torch::empty({x.size(0) - from, x.size(1)}, x.options());
  rows<<<part.size(0), 32>>>(part.data_ptr<float>(), y.data_ptr<float>(), part.size(0), part.size(1));
  flat<<<1, 32>>>(one.data_ptr<float>(), y.data_ptr<float>(), one.numel());
  return y;
}
torch::Tensor narrowed_rows(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2 && x.size(0) >= 2);
  auto half = x.narrow(0, 0, x.size(0) / 2);
  auto y = torch::ones_like(half);
  rows<<<half.size(0), 32>>>(half.data_ptr<float>(), y.data_ptr<float>(), half.size(0), half.size(1));
  return y;
}
torch::Tensor with_workspace(torch::Tensor x) {
  int n = x.numel();
  float *space = nullptr;
  cudaMalloc(&space, n * sizeof(float));
  cudaMemsetAsync(space, 0, n * sizeof(float), at::cuda::getCurrentCUDAStream());
  auto y = torch::empty_like(x);
  flat<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), space, n);
  flat<<<(n + 127) / 128, 128>>>(space, y.data_ptr<float>(), n);
  cudaFree(space);
  return y;
}
torch::Tensor of_any_type(torch::Tensor x) {
  auto y = torch::empty_like(x, x.options().requires_grad(false));
  AT_DISPATCH_ALL_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "any", ([&] {
    const int64_t n = x.numel();
    typed<scalar_t><<<dim3((n + 511) / 512), dim3(512), 0>>>(x.data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), n, 1);
  }));
  return y;
}
torch::Tensor with_stride(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2 && x.stride(1) == 1);
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  typed<float><<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.stride(0));
  return y;
}
torch::Tensor with_accessor(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  strided<float><<<x.size(0), x.size(1) < 1024 ? x.size(1) : 1024>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>(), y.data_ptr<float>());
  return y;
}
torch::Tensor integers(torch::Tensor x, int bits, bool up) {
  TORCH_CHECK(x.dtype() == torch::kInt32, "ints");
  unsigned n = x.numel() << 1;
  int blocks = (bits & 7) ? bits >> 3 : bits / 8 + 1;
  auto y = torch::zeros({(int64_t)n}, x.options());
  words<<<std::max(blocks, 1), 32 << 2>>>(x.data_ptr<int>(), y.data_ptr<int>(), n, up);
  return y;
}
torch::Tensor summed(torch::Tensor x) {
  auto total = x.sum(), mean = x.mean({1}, true);
  auto y = torch::empty({1}, x.options());
  flat<<<1, 1>>>(total.data_ptr<float>(), y.data_ptr<float>(), 1);
  rows<<<mean.size(0), 32>>>(mean.data_ptr<float>(), y.data_ptr<float>(), mean.size(0), mean.numel());
  return y;
}
torch::Tensor from_vector(torch::Tensor x, int64_t k) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.push_back(k);
  TORCH_CHECK(k > 0 && k < 100);
  auto y = torch::empty(shape, x.options());
  flat<<<shape[0], shape.size()>>>(x.data_ptr<float>(), y.data_ptr<float>(), y.numel());
  return y;
}
torch::Tensor in_a_lambda(torch::Tensor x) {
  auto y = torch::empty_like(x);
  auto go = [&](int blocks, int n) { flat<<<blocks, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); };
  for (int64_t start = 0, n = x.size(0); start < n; start += 64) go(1, std::min<int64_t>(64, n - start));
  return y;
}
torch::Tensor same_input_twice(torch::Tensor x) {
  auto y = x;
  flat<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
torch::Tensor expanded(torch::Tensor x, torch::Tensor bias) {
  auto e = bias.expand({x.size(0), bias.size(-1)}).contiguous();
  auto y = torch::empty({x.size(0), bias.size(-1)}, x.options());
  rows<<<x.size(0), 32>>>(e.data_ptr<float>(), y.data_ptr<float>(), e.size(0), e.size(1));
  return y;
}
torch::Tensor unsqueezed(torch::Tensor x) {
  auto z = x.dim() == 1 ? x.unsqueeze(0) : x;
  TORCH_CHECK(z.dim() == 2);
  auto y = torch::empty({z.size(0), 1, z.size(1)}, x.options());
  rows<<<z.size(0), 32>>>(z.data_ptr<float>(), y.squeeze(1).data_ptr<float>(), z.size(0), z.size(1));
  return y.squeeze(1);
}
