// Effects, aliases and orders in host code; tests/contracts/test_oracle.py runs it with random tensors. Gaps are allowed here.
#include <torch/extension.h>
#include <vector>
__global__ void flat(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
__global__ void many(const float *x, float *y, int a, unsigned b, int64_t c, short d, bool e) { if (e) y[0] = x[0] + a + b + c + d; }
static int g_block = 64;
static int pick(int64_t n) { if (n > 100) return 128; g_block = 96; return n > 10 ? 64 : 32; }
torch::Tensor global_changed(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int a = pick(x.numel());
  flat<<<1, g_block>>>(x.data_ptr<float>(), y.data_ptr<float>(), a);
  return y;
}
torch::Tensor order_of_calls(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int n = 1;
  auto next = [&n]() { return n *= 3; };
  int s = next() + n;
  bool both = next() > 8 && next() > 30 && next() > 100;
  bool any = next() > 8 || next() > 30;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), s, n, any + both, 0, k > 0 ? next() > 0 : next() < 0);
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), s, n, 0, 0, true);
  return y;
}
torch::Tensor conditional_alias(torch::Tensor x, torch::Tensor w, int64_t k) {
  torch::Tensor &t = k > 0 ? x : w;
  auto y = torch::empty_like(t);
  t = torch::zeros({4}, x.options());
  flat<<<1, 32>>>(x.data_ptr<float>(), w.data_ptr<float>(), x.numel());
  return y;
}
static void grow(std::vector<int64_t> &v, int64_t k) { v.push_back(k); v[0] += 1; }
torch::Tensor vector_by_reference(torch::Tensor x, int64_t k) {
  TORCH_CHECK(x.dim() == 2 && k > 0 && k < 50);
  std::vector<int64_t> v = {x.size(0), 2};
  auto copy = v;
  grow(v, k);
  auto y = torch::empty(v, x.options());
  flat<<<v.size(), copy.size()>>>(x.data_ptr<float>(), y.data_ptr<float>(), v[0] * v[1] * v[2]);
  return y;
}
torch::Tensor known_vector(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 3);
  auto shape = x.sizes().vec();
  shape.back() = 7;
  shape[0] = shape[1];
  shape.insert(shape.begin(), 2);
  auto y = torch::empty(shape, x.options());
  flat<<<shape.size(), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), y.numel());
  return y;
}
struct Acc { int total = 0; int add(int n) { total += n; return total; } int &ref() { return total; } };
torch::Tensor object_state(torch::Tensor x) {
  auto y = torch::empty_like(x);
  Acc a;
  a.add(3);
  Acc b = a;
  b.add(4);
  a.ref() = 11;
  Acc *p = &b;
  p->total *= 2;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), a.total, b.total, a.add(1), 0, true);
  return y;
}
torch::Tensor tensor_in_struct(torch::Tensor x) {
  struct Pair { torch::Tensor in, out; int n; } pair{x, torch::Tensor(), 3};
  pair.out = torch::empty({x.size(0)}, x.options());
  Pair other = pair;
  other.n = x.size(0);
  flat<<<1, 32>>>(pair.in.data_ptr<float>(), other.out.data_ptr<float>(), pair.n + other.n);
  return pair.out;
}
torch::Tensor in_place_resize(torch::Tensor x, int64_t k) {
  TORCH_CHECK(k > 0 && k < 64);
  auto y = torch::empty({4}, x.options());
  y = y.repeat({k});
  auto z = y.view({2, -1}).t();
  y.zero_();
  flat<<<z.size(0), z.size(1)>>>(y.data_ptr<float>(), z.contiguous().data_ptr<float>(), z.numel());
  return y;
}
torch::Tensor loop_reassigns(torch::Tensor x) {
  auto y = x;
  for (int i = 0; i < 3; ++i) {
    auto next = torch::empty({y.numel() + i}, x.options());
    flat<<<i + 1, 32>>>(y.data_ptr<float>(), next.data_ptr<float>(), y.numel());
    y = next;
  }
  return y;
}
torch::Tensor shadows(torch::Tensor x, int64_t n) {
  auto y = torch::empty_like(x);
  int a = 1;
  { int a = 5; if (int n = a * 2; n > 3) { a = n; } flat<<<a, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), a); }
  for (int a = 0; a < 1; ++a) { }
  many<<<a, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), a, 0, n, 0, true);
  return y;
}
torch::Tensor char_math(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  signed char c = k;
  unsigned char u = c;
  c += 100;
  u -= 1;
  short s = c * u;
  bool flag = k;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), c, u, ~s, s >> 2, flag);
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), k << 3, (unsigned)k >> 28, -(k / -3) % 5, k ^ 3, !k);
  return y;
}
torch::Tensor pointers(torch::Tensor x, torch::Tensor w) {
  float *p = x.data_ptr<float>(), *q = w.data_ptr<float>();
  float *ptrs[2] = {p, q};
  float **pp = &ptrs[0];
  if (x.numel() > 10) std::swap(p, q);
  *pp = q;
  flat<<<1, 32>>>(ptrs[0], ptrs[1], 1);
  flat<<<2, 32>>>(p, q, 2);
  return x;
}
torch::Tensor optional_chain(torch::Tensor x, std::optional<torch::Tensor> a, std::optional<int64_t> k) {
  auto y = torch::empty_like(x);
  torch::Tensor t = a.has_value() ? *a : x;
  int64_t n = k.value_or(t.size(0));
  if (k && *k < 0) n = -*k;
  if (!a) n += 1;
  flat<<<1, 32>>>(t.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
torch::Tensor numel_of_views(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 3);
  auto a = x.transpose(1, 2), b = x.flatten(1), c = x.unsqueeze(-1), d = x.select(1, 0), e = x.slice(2, 1, 3), f = x.permute({2, 0, 1});
  auto y = torch::empty({a.size(2), b.size(1), c.size(3)}, x.options());
  many<<<d.size(1), 32>>>(e.data_ptr<float>(), y.data_ptr<float>(), e.size(2), f.size(0), f.size(1) * b.numel(), d.dim(), d.numel() == e.numel());
  return y;
}
static void twice2(int &v, int64_t *w) { v *= 2; *w += v; }
static int &first(int &a, int &b) { return a > 3 ? a : b; }
torch::Tensor chosen_places(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  int n = 3, m = 5; int64_t w = 1;
  twice2(k > 0 ? n : m, &w);
  (k > 5 ? n : m) += 10;
  first(n, m) = 7;
  int &r = first(m, n);
  r++;
  long q = k > 0 ? n-- : m;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, m, w, q, true);
  return y;
}
struct Count { int v = 0; int up() { return ++v; } };
torch::Tensor counted_object(torch::Tensor x, int64_t k) {
  auto y = torch::empty_like(x);
  Count c;
  int a = k > 0 ? c.up() : 0;
  bool b = k > 1 && c.up() > 1;
  int d = (b || c.up() > 0) + c.v;
  many<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), a, d, c.v, 0, b);
  return y;
}
