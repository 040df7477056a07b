// Host code that really runs: a tensor is a number that stands for a tensor of the Python process around it, every ATen
// call is made there by its name, and a launch is told there with the bytes of its arguments (see fuzz/whole/child.py).
// What has no name here does not compile; what Python does not know is refused when it is called.
#pragma once
#include "cuda_types.h"
#include "torch_types.h"

namespace vk {
typedef const char *(*Hook)(const char *);
inline Hook &hook() { static Hook h = nullptr; return h; }
// A request in JSON; the answer's words, or its complaint as an exception.
inline std::string ask(const std::string &request) {
  std::string answer = hook()(request.c_str());
  if (!answer.empty() && answer[0] == 'E') throw Refusal(answer.substr(1));
  return answer;
}
inline std::string quoted(const std::string &s) { std::ostringstream o; o << '"'; for (unsigned char c : s) { if (c == '"' || c == '\\') o << '\\' << c; else if (c < 32) o << ' '; else o << c; } o << '"'; return o.str(); }
inline std::string number(double v) { if (v != v) return "NaN"; if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity"; char b[40]; std::snprintf(b, sizeof b, "%.17g", v); std::string s = b; return s.find_first_of(".e") == std::string::npos ? s + ".0" : s; }
template <class T> std::string hex(const T &v) { std::string o; const auto *p = reinterpret_cast<const unsigned char *>(&v); for (size_t i = 0; i < sizeof(T); ++i) { char b[3]; std::snprintf(b, 3, "%02x", p[i]); o += b; } return o; }
template <class T> struct Named { static std::string name() { int status; char *s = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status); std::string o = s ? s : "?"; std::free(s); return o; } };
template <> struct Named<c10::Half> { static std::string name() { return "c10::Half"; } };
template <> struct Named<c10::BFloat16> { static std::string name() { return "c10::BFloat16"; } };
template <class T> std::string type_text() { return Named<T>::name(); }
template <class T> std::string value_text(T v) {
  if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
  else if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<long long>(v));
  else if constexpr (std::is_integral_v<T>) return std::to_string(v);
  else return "?";
}
struct Any { Any() {} template <class T> Any(const T &) {} Any(std::initializer_list<Any>) {} };
}

namespace at {
struct Tensor;
struct Kept { long id = -1; ScalarType type = ScalarType::Undefined; Dims sizes, strides; uint64_t address = 0, bytes = 0; };
Tensor read_tensor(std::istream &in);
}
namespace vk {
// An argument of an ATen call as JSON; an argument that was not given has no text.
struct Arg {
  std::string text;
  Arg() {} Arg(const at::Tensor &t); Arg(bool v) : text(v ? "true" : "false") {} Arg(std::nullopt_t) : text("null") {} Arg(const char *s) : text(quoted(s)) {} Arg(const std::string &s) : text(quoted(s)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>, class = void> Arg(T v) : text(std::is_floating_point_v<T> ? number(double(v)) : std::to_string(v)) {}
  Arg(c10::Scalar s) : text(s.real ? number(s.value) : std::to_string(s.whole)) {} Arg(c10::ScalarType t) : text("{\"dtype\": " + std::to_string(int(t)) + "}") {} Arg(caffe2::TypeMeta m) : Arg(m.t) {}
  Arg(const at::TensorOptions &o) : text("{\"options\": " + (o.type ? std::to_string(int(*o.type)) : std::string("null")) + "}") {} Arg(const c10::Device &) : text("{\"options\": null}") {} Arg(c10::DeviceType) : text("{\"options\": null}") {}
  Arg(c10::MemoryFormat f) : text("{\"format\": " + std::to_string(int(f)) + "}") {}
  Arg(std::initializer_list<int64_t> l) { list(l); } template <class T> Arg(const std::vector<T> &l) { list(l); } template <class T> Arg(const c10::ArrayRef<T> &l) { list(l.items); } template <class T, size_t N> Arg(const std::array<T, N> &l) { list(l); }
  Arg(std::initializer_list<at::Tensor> l);
  template <class T> Arg(const std::optional<T> &o) : text(o ? Arg(*o).text : "null") {}
  template <class L> void list(const L &l) { text = "["; for (const auto &v : l) text += (text.size() > 1 ? ", " : "") + Arg(v).text; text += "]"; }
};
inline std::string call(const char *what, const char *name, std::initializer_list<Arg> args) {
  std::string o = "{\"" + std::string(what) + "\": " + quoted(name) + ", \"args\": [";
  size_t last = 0, i = 0; for (const auto &a : args) { ++i; if (!a.text.empty()) last = i; }
  i = 0; for (const auto &a : args) { if (i++ == last) break; o += (i > 1 ? ", " : "") + (a.text.empty() ? std::string("{\"unsaid\": 1}") : a.text); }
  return ask(o + "]}");
}
at::Tensor one(const char *what, const char *name, std::initializer_list<Arg> args);
std::vector<at::Tensor> many(const char *what, const char *name, std::initializer_list<Arg> args);
}
namespace at {
using vk::Arg;
#define VK_8 Arg a = {}, Arg b = {}, Arg c = {}, Arg d = {}, Arg e = {}, Arg f = {}, Arg g = {}, Arg h = {}
#define VK_METHOD(n) Tensor n(VK_8) const { return vk::one("method", #n, {*this, a, b, c, d, e, f, g, h}); }
#define VK_LISTED(n) std::vector<Tensor> n(VK_8) const { return vk::many("method", #n, {*this, a, b, c, d, e, f, g, h}); }
#define VK_PAIR(n) Tensor n() const { return vk::one("method", #n, {*this}); } std::tuple<Tensor, Tensor> n(Arg a, Arg b = {}, Arg c = {}, Arg d = {}) const { auto r = vk::many("method", #n, {*this, a, b, c, d}); return {r.at(0), r.at(1)}; }
struct Tensor {
  std::shared_ptr<Kept> kept;
  Tensor() {} Tensor(std::nullptr_t) {}
  const Kept &there() const { if (!kept) throw vk::Refusal("undefined tensor"); return *kept; }
  int64_t wrap(int64_t d) const { int64_t n = std::max<int64_t>(dim(), 1); if (d < -n || d >= n) throw vk::Refusal("dim out of range"); return d < 0 ? d + n : d; }
  int64_t size(int64_t d) const { d = wrap(d); return there().sizes.at(d); } int64_t stride(int64_t d) const { d = wrap(d); return there().strides.at(d); }
  IntArrayRef sizes() const { return there().sizes; } IntArrayRef strides() const { return there().strides; } int64_t numel() const { return product(there().sizes); } int64_t dim() const { return there().sizes.size(); } int64_t ndimension() const { return dim(); }
  void *data_ptr() const { return reinterpret_cast<void *>(there().address); } const void *const_data_ptr() const { return data_ptr(); } void *mutable_data_ptr() const { return data_ptr(); }
  template <class T> T *data_ptr() const { typedef std::remove_const_t<T> P; if constexpr (std::is_same_v<P, __half>) { if (there().type != ScalarType::Half) throw vk::Refusal("expected another scalar type"); } else if constexpr (std::is_same_v<P, __nv_bfloat16>) { if (there().type != ScalarType::BFloat16) throw vk::Refusal("expected another scalar type"); } else { if (CppType<P>::value != there().type) throw vk::Refusal("expected another scalar type"); } return reinterpret_cast<T *>(there().address); }
  template <class T> T *data() const { return data_ptr<T>(); } template <class T> const T *const_data_ptr() const { return data_ptr<T>(); } template <class T> T *mutable_data_ptr() const { return data_ptr<T>(); }
  TensorOptions options() const { return TensorOptions(there().type).device(device()); } ScalarType scalar_type() const { return there().type; } caffe2::TypeMeta dtype() const { return there().type; } DeprecatedTypeProperties type() const { return {there().type, true}; } Device device() const { there(); return Device(kCUDA, 0); } int64_t get_device() const { return 0; } Layout layout() const { return Layout::Strided; }
  bool is_cuda() const { there(); return true; } bool is_cpu() const { there(); return false; } bool defined() const { return bool(kept); } bool is_floating_point() const { auto t = there().type; return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16; } bool requires_grad() const { return false; } bool is_same(const Tensor &o) const { return kept == o.kept; } bool is_sparse() const { return false; }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const { if (f > MemoryFormat::Preserve) return vk::call("truth", "is_contiguous", {*this, f}) == "B 1"; if (numel() == 0) return true; int64_t n = 1; for (size_t i = there().sizes.size(); i-- > 0;) if (kept->sizes[i] != 1) { if (kept->strides[i] != n) return false; n *= kept->sizes[i]; } return true; }
  int64_t element_size() const { return elementSize(there().type); } size_t itemsize() const { return element_size(); } size_t nbytes() const { return numel() * element_size(); } int64_t storage_offset() const { return std::stoll(vk::call("integer", "storage_offset", {*this})); }
  template <class T> T item() const { return T(std::stod(vk::call("item", "item", {*this}))); } Scalar item() const { if (is_floating_point()) return Scalar(item<double>()); return Scalar(item<int64_t>()); }
  bool equal(const Tensor &o) const { return vk::call("truth", "equal", {*this, o}) == "B 1"; } Tensor operator[](int64_t i) const { return vk::one("method", "select", {*this, 0, i}); }
  Tensor slice(Arg d = 0, Arg from = std::nullopt, Arg to = std::nullopt, Arg step = 1) const { return vk::one("slice", "slice", {*this, d, from, to, step}); }
  Tensor alias() const { return *this; } Tensor data() const { return *this; } Tensor variable_data() const { return *this; } void reset() { kept.reset(); } Tensor cuda() const { there(); return *this; } Tensor cpu() const { return vk::one("method", "clone", {*this}); }
  Tensor toType(Arg t) const { return vk::one("method", "to", {*this, t}); }
  VK_METHOD(contiguous) VK_METHOD(clone) VK_METHOD(detach) VK_METHOD(view) VK_METHOD(reshape) VK_METHOD(view_as) VK_METHOD(reshape_as) VK_METHOD(flatten) VK_METHOD(ravel) VK_METHOD(squeeze) VK_METHOD(unsqueeze) VK_METHOD(transpose) VK_METHOD(t) VK_METHOD(permute) VK_METHOD(expand) VK_METHOD(expand_as) VK_METHOD(select) VK_METHOD(narrow)
  VK_METHOD(to) VK_METHOD(type_as) VK_METHOD(half) VK_METHOD(zero_) VK_METHOD(fill_) VK_METHOD(copy_) VK_METHOD(new_empty) VK_METHOD(new_zeros) VK_METHOD(new_ones) VK_METHOD(new_full) VK_METHOD(sum) VK_METHOD(mean) VK_METHOD(amax) VK_METHOD(amin) VK_METHOD(prod) VK_METHOD(argmax) VK_METHOD(argmin) VK_METHOD(var) VK_METHOD(std) VK_METHOD(norm) VK_METHOD(abs) VK_METHOD(sqrt) VK_METHOD(rsqrt) VK_METHOD(exp) VK_METHOD(log) VK_METHOD(tanh) VK_METHOD(sigmoid) VK_METHOD(relu) VK_METHOD(neg) VK_METHOD(square) VK_METHOD(clamp) VK_METHOD(clamp_min) VK_METHOD(clamp_max) VK_METHOD(sin) VK_METHOD(cos) VK_METHOD(floor) VK_METHOD(ceil) VK_METHOD(round) VK_METHOD(softmax) VK_METHOD(log_softmax) VK_METHOD(pow) VK_METHOD(reciprocal)
  VK_METHOD(add) VK_METHOD(sub) VK_METHOD(mul) VK_METHOD(div) VK_METHOD(add_) VK_METHOD(sub_) VK_METHOD(mul_) VK_METHOD(div_) VK_METHOD(clamp_) VK_METHOD(relu_) VK_METHOD(exp_) VK_METHOD(sqrt_) VK_METHOD(matmul) VK_METHOD(mm) VK_METHOD(bmm) VK_METHOD(mv) VK_METHOD(dot) VK_METHOD(index_select) VK_METHOD(repeat) VK_METHOD(unfold) VK_METHOD(masked_fill) VK_METHOD(gather) VK_METHOD(cumsum) VK_METHOD(cumprod) VK_METHOD(eq) VK_METHOD(ne) VK_METHOD(lt) VK_METHOD(gt) VK_METHOD(le) VK_METHOD(ge) VK_METHOD(addmm) VK_METHOD(triu) VK_METHOD(tril) VK_METHOD(logsumexp) VK_METHOD(flip) VK_METHOD(diagonal) VK_METHOD(as_strided) VK_METHOD(movedim)
  VK_LISTED(split) VK_LISTED(chunk) VK_LISTED(unbind) VK_PAIR(max) VK_PAIR(min)
  Tensor operator-() const { return neg(); } const Tensor &operator+=(Arg o) const { add_(o); return *this; } const Tensor &operator-=(Arg o) const { sub_(o); return *this; } const Tensor &operator*=(Arg o) const { mul_(o); return *this; } const Tensor &operator/=(Arg o) const { div_(o); return *this; }
  Tensor set_requires_grad(bool) const { return *this; }
  template <class T, size_t N> GenericPackedTensorAccessor<T, N> accessor() const { throw vk::Unsupported{"accessor"}; }
  template <class T, size_t N, template <class> class P, class I> GenericPackedTensorAccessor<T, N, P, I> packing() const { if (dim() != int64_t(N)) throw vk::Refusal("expected another rank"); GenericPackedTensorAccessor<T, N, P, I> o; o.data_ = data_ptr<T>(); for (size_t i = 0; i < N; ++i) { o.sizes_[i] = I(kept->sizes[i]); o.strides_[i] = I(kept->strides[i]); } return o; }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const { return packing<T, N, P, int32_t>(); } template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const { return packing<T, N, P, int64_t>(); } template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const { return packing<T, N, P, I>(); }
};
inline std::ostream &operator<<(std::ostream &o, const Tensor &) { return o; }
inline Tensor read_tensor(std::istream &in) {
  std::string word; in >> word; if (word == "N") return {}; if (word != "T") throw vk::Refusal("a call gave something that is no tensor");
  Tensor t; t.kept = std::make_shared<Kept>(); int type, rank; in >> t.kept->id >> type >> rank; t.kept->type = ScalarType(type); t.kept->sizes.resize(rank); t.kept->strides.resize(rank);
  for (auto &v : t.kept->sizes) in >> v; for (auto &v : t.kept->strides) in >> v; in >> t.kept->address; return t;
}
#define VK_FREE(n) inline Tensor n(VK_8) { return vk::one("function", #n, {a, b, c, d, e, f, g, h}); }
#define VK_TWO(n) inline Tensor n(Arg a) { return vk::one("function", #n, {a}); } inline Tensor n(const Tensor &a, const Tensor &b) { return vk::one("function", #n, {a, b}); } inline std::tuple<Tensor, Tensor> n(Arg a, Arg b, Arg c = {}, Arg d = {}) { auto r = vk::many("function", #n, {a, b, c, d}); return {r.at(0), r.at(1)}; }
VK_FREE(empty) VK_FREE(zeros) VK_FREE(ones) VK_FREE(rand) VK_FREE(randn) VK_FREE(full) VK_FREE(empty_like) VK_FREE(zeros_like) VK_FREE(ones_like) VK_FREE(rand_like) VK_FREE(randn_like) VK_FREE(full_like) VK_FREE(arange) VK_FREE(scalar_tensor) VK_FREE(eye) VK_FREE(linspace) VK_FREE(tensor) VK_FREE(cat) VK_FREE(stack)
VK_FREE(matmul) VK_FREE(mm) VK_FREE(bmm) VK_FREE(mv) VK_FREE(dot) VK_FREE(addmm) VK_FREE(baddbmm) VK_FREE(reshape) VK_FREE(flatten) VK_FREE(transpose) VK_FREE(unsqueeze) VK_FREE(squeeze) VK_FREE(permute) VK_FREE(sqrt) VK_FREE(exp) VK_FREE(log) VK_FREE(tanh) VK_FREE(sigmoid) VK_FREE(relu) VK_FREE(abs) VK_FREE(gelu) VK_FREE(silu) VK_FREE(softmax) VK_FREE(log_softmax) VK_FREE(rsqrt) VK_FREE(square) VK_FREE(leaky_relu) VK_FREE(elu) VK_FREE(clone) VK_FREE(softplus) VK_FREE(hardtanh) VK_FREE(hardswish) VK_FREE(mish)
VK_FREE(add) VK_FREE(sub) VK_FREE(mul) VK_FREE(div) VK_FREE(sum) VK_FREE(mean) VK_FREE(prod) VK_FREE(var) VK_FREE(std) VK_FREE(norm) VK_FREE(pow) VK_FREE(clamp) VK_FREE(where) VK_FREE(einsum) VK_FREE(cumsum) VK_FREE(cumprod) VK_FREE(argmax) VK_FREE(argmin) VK_FREE(amax) VK_FREE(amin) VK_FREE(logsumexp) VK_FREE(outer) VK_FREE(triu) VK_FREE(tril) VK_FREE(flip) VK_FREE(maximum) VK_FREE(minimum)
VK_FREE(conv1d) VK_FREE(conv2d) VK_FREE(conv3d) VK_FREE(conv_transpose1d) VK_FREE(conv_transpose2d) VK_FREE(conv_transpose3d) VK_FREE(linear) VK_FREE(max_pool2d) VK_FREE(avg_pool2d) VK_FREE(adaptive_avg_pool2d) VK_FREE(batch_norm) VK_FREE(layer_norm) VK_FREE(group_norm) VK_FREE(instance_norm) VK_FREE(constant_pad_nd) VK_FREE(pad) VK_FREE(convolution) VK_TWO(max) VK_TWO(min)
#define VK_OPERATOR(o, n) inline Tensor operator o(const Tensor &a, const Tensor &b) { return vk::one("function", #n, {a, b}); } inline Tensor operator o(const Tensor &a, Scalar b) { return vk::one("method", #n, {a, b}); } inline Tensor operator o(Scalar a, const Tensor &b) { return vk::one("operator", #n, {a, b}); }
VK_OPERATOR(+, add) VK_OPERATOR(-, sub) VK_OPERATOR(*, mul) VK_OPERATOR(/, div) VK_OPERATOR(<, lt) VK_OPERATOR(>, gt) VK_OPERATOR(<=, le) VK_OPERATOR(>=, ge) VK_OPERATOR(==, eq) VK_OPERATOR(!=, ne)
template <class T> T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T> struct acc_type_ { typedef T type; }; template <> struct acc_type_<Half> { typedef float type; }; template <> struct acc_type_<BFloat16> { typedef float type; };
template <class T, bool> using acc_type = typename acc_type_<T>::type; template <class T> using opmath_type = typename acc_type_<T>::type;
}
namespace vk {
inline Arg::Arg(const at::Tensor &t) : text(t.kept ? "{\"tensor\": " + std::to_string(t.kept->id) + "}" : "null") {}
inline Arg::Arg(std::initializer_list<at::Tensor> l) { list(l); }
inline std::vector<at::Tensor> tensors(const std::string &answer) { std::istringstream in(answer); std::string word; in >> word; size_t n = 1; if (word == "L") in >> n; else in.seekg(0); std::vector<at::Tensor> o; for (size_t i = 0; i < n; ++i) o.push_back(at::read_tensor(in)); return o; }
inline at::Tensor one(const char *what, const char *name, std::initializer_list<Arg> args) { return tensors(call(what, name, args)).at(0); }
inline std::vector<at::Tensor> many(const char *what, const char *name, std::initializer_list<Arg> args) { return tensors(call(what, name, args)); }
inline void *grab(size_t n) { return one("memory", "memory", {int64_t(n)}).data_ptr(); }
}
#include "live_runtime.h"
namespace at { namespace cuda { using namespace c10::cuda; inline cudaDeviceProp *getCurrentDeviceProperties() { static cudaDeviceProp p; return &p; } inline cudaDeviceProp *getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); } inline int warp_size() { return 32; } } }
namespace torch {
using namespace at; typedef at::ScalarType Dtype; typedef IntArrayRef IntList; inline TensorOptions dtype(ScalarType t) { return t; } inline TensorOptions device(Device d) { return d; } inline TensorOptions requires_grad(bool = true) { return {}; } struct NoGradGuard {};
namespace nn { namespace functional { using namespace at; } }
namespace autograd { typedef std::vector<at::Tensor> tensor_list, variable_list; typedef at::Tensor Variable; }
}
namespace pybind11 { struct arg { arg(const char *) {} template <class T> arg operator=(T) { return *this; } arg none(bool = true) { return *this; } arg noconvert(bool = true) { return *this; } };
struct module_ { template <class F, class... A> module_ &def(const char *name, F f, A &&...) { vk::bind(name, f); return *this; } std::string doc() { return ""; } }; typedef module_ module; }
namespace py = pybind11;
namespace vk { struct library { template <class... A> library &def(A &&...) { throw Unsupported{"TORCH_LIBRARY"}; } template <class... A> library &impl(A &&...) { throw Unsupported{"TORCH_LIBRARY"}; } }; }
#include "torch_macros.h"
