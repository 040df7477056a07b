// Odd but legal host code: what is evaluated, in which order, and with which type. tests/contracts/test_oracle.py runs it.
#include <torch/extension.h>
#include <array>
#include <map>
#include <tuple>
#include <vector>

__global__ void flat(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
__global__ void many(const float *x, float *y, int a, unsigned b, int64_t c, short d, bool e) { if (e) y[0] = x[0] + a + b + c + d; }
template <int N, typename T> __global__ void fixed(const T *x, T *y, int n) { y[0] = x[0]; }

torch::Tensor guarded(torch::Tensor x, std::optional<torch::Tensor> b) {
  auto y = torch::empty_like(x);
  int n = b.has_value() && b->dim() > 1 && b->size(1) > 3 ? b->size(1) : 7;
  const float *p = (!b.has_value() || b->numel() == 0) ? x.data_ptr<float>() : b->data_ptr<float>();
  flat<<<1, 32>>>(p, y.data_ptr<float>(), n);
  return y;
}
torch::Tensor short_circuit(torch::Tensor x) {
  auto y = torch::empty_like(x);
  bool wide = x.dim() == 4 && x.size(3) > 16;
  bool typed = x.scalar_type() == torch::kFloat && x.data_ptr<float>() != nullptr;
  if (!typed) return y;
  flat<<<wide ? 4 : 1, wide || x.dim() < 2 ? 64 : 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
torch::Tensor increments(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int i = 3;
  int j = i++;
  j += ++i;
  int q = (j += 2, j * 2);
  int r = k > 0 ? q-- : --q;
  many<<<q, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), i, j, q, r, !(i & 1));
  return y;
}
static void twice(int &v, int64_t *w) { v *= 2; *w += v; }
torch::Tensor by_reference(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.size(0);
  int64_t total = 5;
  twice(n, &total);
  auto &alias = n;
  alias += 1;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, n, total, alias, true);
  return y;
}
torch::Tensor unsigned_mix(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  unsigned u = k;
  int s = k;
  size_t z = x.size(0) - 1;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), s / 4 + s % 4, u / 4 + u % 4u, z - 3 > 2 ? -s : s >> 1, (short)(k * 3), u > s);
  return y;
}
torch::Tensor switch_falls(torch::Tensor x, int mode) {
  auto y = torch::empty_like(x);
  int blocks = 1, threads = 32;
  switch (mode) {
    case 0: blocks = 2;
    case 1: threads = 64; break;
    case 2: { blocks = 3; break; }
    case 5:
    case 6: blocks = mode; threads *= 4;
    default: blocks++;
  }
  flat<<<blocks, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
torch::Tensor early(torch::Tensor x, int64_t k) {
  auto y = torch::zeros_like(x);
  if (x.numel() == 0 || k == 0) return y;
  if (k < 0) { k = -k; if (k > 100) return x; }
  else if (k > 1000) k = 1000;
  flat<<<k, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), k);
  return y;
}
struct Plan { int blocks = 1; int threads = 128; dim3 grid() const { return dim3(blocks, 2); } static Plan of(int64_t n) { Plan p; p.blocks = (n + p.threads - 1) / p.threads; return p; } };
torch::Tensor planned(torch::Tensor x) {
  auto y = torch::empty_like(x);
  Plan plan = Plan::of(x.numel());
  Plan other = plan;
  other.threads = 64;
  flat<<<plan.grid(), other.threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), plan.blocks * other.threads);
  return y;
}
static std::tuple<int, int> split(int64_t n, int parts = 4) { return {n / parts, n % parts}; }
static std::pair<dim3, dim3> shape_of(int64_t n) { return std::make_pair(dim3((n + 63) / 64), dim3(64)); }
torch::Tensor tied(torch::Tensor x) {
  auto y = torch::empty_like(x);
  auto [a, b] = split(x.size(0));
  int c, d;
  std::tie(c, d) = split(x.size(0), 8);
  auto config = shape_of(x.numel());
  many<<<config.first, config.second>>>(x.data_ptr<float>(), y.data_ptr<float>(), a, b, c, d, a > d);
  return y;
}
torch::Tensor arrays(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int sizes[3] = {4, 8, 16};
  std::array<int, 2> more = {1, 2};
  const int table[] = {32, 64, 128, 256};
  sizes[1] += k > 2 ? 3 : 0;
  more[0] = sizes[1] * 2;
  flat<<<more[0], table[k & 3]>>>(x.data_ptr<float>(), y.data_ptr<float>(), sizes[0] + sizes[1] + sizes[2]);
  return y;
}
torch::Tensor counted(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int levels = 0, total = 1;
  for (int64_t d = 0; d < x.dim(); d++) { total *= x.size(d); levels += x.size(d) > 1; }
  int i = 0;
  do { i += 2; } while (i < 7);
  while (true) { if (i > 20) break; i = i * 2 + 1; if (i % 3 == 0) continue; i++; }
  many<<<i, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), levels, total, i, 0, false);
  return y;
}
torch::Tensor reversed(torch::Tensor x) {
  auto y = torch::empty_like(x);
  for (int step = 16; step > 0; step >>= 1) flat<<<step, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), step);
  for (int a = 0; a < 2; ++a)
    for (int b = a; b < 3; b += 2) { if (a == 1 && b == 1) continue; flat<<<a + 1, b + 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), a * 10 + b); }
  return y;
}
torch::Tensor dispatched(torch::Tensor x, int64_t threads) {
  auto y = torch::empty_like(x);
  auto go = [&](auto tag) { constexpr int N = decltype(tag)::value; fixed<N, float><<<x.size(0), N>>>(x.data_ptr<float>(), y.data_ptr<float>(), N); };
  if (threads <= 32) go(std::integral_constant<int, 32>{});
  else if (threads <= 128) go(std::integral_constant<int, 128>{});
  else go(std::integral_constant<int, 512>{});
  return y;
}
torch::Tensor swapped(torch::Tensor a, torch::Tensor b) {
  if (a.numel() < b.numel()) std::swap(a, b);
  auto y = torch::empty_like(a);
  int n = a.numel(), m = b.numel();
  std::swap(n, m);
  many<<<1, 32>>>(a.data_ptr<float>(), y.data_ptr<float>(), n, m, n + m, 1, true);
  return y;
}
torch::Tensor reassigned(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  x = w;
  w = y;
  y = torch::zeros({w.numel()}, w.options());
  flat<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), w.numel());
  return y;
}
torch::Tensor in_a_vector(torch::Tensor a, torch::Tensor b) {
  std::vector<torch::Tensor> all = {a, b};
  all.push_back(torch::empty_like(b));
  std::vector<int64_t> sizes;
  for (auto &t : all) sizes.push_back(t.numel());
  sizes[0] = 3;
  flat<<<sizes.size(), 32>>>(all[0].data_ptr<float>(), all[2].data_ptr<float>(), sizes[0] + sizes[1]);
  all.pop_back();
  flat<<<all.size(), 32>>>(all.back().data_ptr<float>(), all.front().data_ptr<float>(), sizes.back());
  return a;
}
torch::Tensor tried(torch::Tensor x) {
  auto y = torch::empty_like(x);
  try { TORCH_CHECK(x.size(0) > 8, "small"); flat<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 8); }
  catch (const std::exception &) { return y; }
  return y;
}
torch::Tensor ceil_in_float(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  int a = std::ceil(n / 256.0), b = ceil((float)n / 100), c = std::floor(n * 0.5);
  many<<<a, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), a, 1, c, 2, b > 3);
  return y;
}
torch::Tensor powers(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int p = 1;
  while (p < k && p < 512) p <<= 1;
  int log = 0;
  for (int64_t v = x.size(0); v > 1; v /= 2) ++log;
  many<<<1, p>>>(x.data_ptr<float>(), y.data_ptr<float>(), log, p, k, 0, true);
  return y;
}
torch::Tensor offsets(torch::Tensor x, int64_t k) {
  TORCH_CHECK(k >= 0 && k < x.numel() && x.is_contiguous());
  auto y = torch::empty({x.numel() - k}, x.options());
  const float *p = x.data_ptr<float>() + k;
  float *q = y.data_ptr<float>();
  flat<<<1, 32>>>(p, q, x.numel() - k);
  flat<<<1, 32>>>(p - k, &q[y.numel() / 2], y.numel() / 4);
  return y;
}
torch::Tensor statics(torch::Tensor x) {
  static const int threads = 96;
  static int calls = 0;
  auto y = torch::empty_like(x);
  if (++calls > 1000000) return y;
  flat<<<1, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
torch::Tensor enumerated(torch::Tensor x, int64_t mode) {
  enum class Mode { None = 0, Sum = 4, Mean };
  auto y = torch::empty_like(x);
  Mode m = static_cast<Mode>(mode % 6);
  int n = m == Mode::Mean ? 2 : m == Mode::Sum ? 1 : 0;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, static_cast<int>(m), 0, 0, m != Mode::None);
  return y;
}
torch::Tensor negative_dims(torch::Tensor x, int64_t dim) {
  if (dim < 0) dim += x.dim();
  TORCH_CHECK(dim >= 0 && dim < x.dim());
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < dim; ++i) outer *= x.size(i);
  for (int64_t i = dim + 1; i < x.dim(); ++i) inner *= x.size(i);
  auto y = torch::empty({outer, inner}, x.options());
  many<<<outer, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(dim), inner, outer * inner, 0, true);
  return y;
}
torch::Tensor writes_through(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int a[2] = {1, 2};
  int *p = a;
  p[1] = 5;
  *p = k;
  int64_t v = 3;
  auto add = [&v](int n) { v += n; return v; };
  add(2);
  int w = add(1) + a[0];
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), a[0], a[1], v, w, true);
  return y;
}
torch::Tensor captures(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int a = 1, b = 2, c = 3;
  auto by_copy = [=](int n) { return a + n; };
  auto by_both = [=, &c](int n) { c += n; return a + b + c; };
  auto one = [&a, b]() { a += b; return a; };
  auto counter = [b]() mutable { return b++; };
  auto with_init = [d = c + 4]() { return d; };
  a = 10;
  b = 20;
  int p = by_copy(1), q = by_both(5), r = one(), s = counter() + counter(), t = with_init();
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), p + a, q + b, r + c, s, t == 7);
  return y;
}
