// Tensors without elements: shape, strides, dtype and a piece of memory that has an address (see fake_cuda.h). What is not
// here refuses with vk::Unsupported when it is called, so a case never goes on with a made-up shape.
#pragma once
#include "fake_cuda.h"

namespace c10 {
VK_SMALL(Half) VK_SMALL(BFloat16)
template <class T> struct complex { T a, b; };
enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16, Float8_e5m2 = 23, Float8_e4m3fn = 24, UInt16 = 27, UInt32 = 28, UInt64 = 29, Undefined = 99 };
enum class DeviceType : int8_t { CPU, CUDA };
enum class Layout : int8_t { Strided, Sparse };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
constexpr DeviceType kCUDA = DeviceType::CUDA, kCPU = DeviceType::CPU;
using std::nullopt; using std::nullopt_t; using std::optional;
typedef int8_t DeviceIndex;
struct Device {
  DeviceType kind; int number;
  Device(DeviceType t, int i = -1) : kind(t), number(i) {} Device(const std::string &s) : kind(s.rfind("cuda", 0) == 0 ? kCUDA : kCPU), number(-1) {} Device(const char *s) : Device(std::string(s)) {}
  bool is_cuda() const { return kind == kCUDA; } bool is_cpu() const { return kind == kCPU; } DeviceIndex index() const { return 0; } DeviceType type() const { return kind; } bool has_index() const { return true; }
  bool operator==(const Device &o) const { return kind == o.kind; } bool operator!=(const Device &o) const { return kind != o.kind; } std::string str() const { return "cuda:0"; }
};
inline std::ostream &operator<<(std::ostream &o, const Device &) { return o << "cuda:0"; } inline std::ostream &operator<<(std::ostream &o, ScalarType t) { return o << int(t); }
inline const char *toString(ScalarType) { return "dtype"; } inline int64_t elementSize(ScalarType t);
struct Scalar {
  double value = 0; int64_t whole = 0;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Scalar(T v) : value(double(v)), whole(int64_t(v)) {}
  template <class T> T to() const { if constexpr (std::is_integral_v<T>) return T(whole); else return T(float(value)); } double toDouble() const { return value; } float toFloat() const { return float(value); } int64_t toLong() const { return whole; } int toInt() const { return int(whole); }
};
template <class T> struct ArrayRef {
  std::vector<T> items;
  ArrayRef() = default; ArrayRef(std::initializer_list<T> l) : items(l) {} ArrayRef(const T &v) : items{v} {} template <class U> ArrayRef(const std::vector<U> &v) : items(v.begin(), v.end()) {} template <size_t N> ArrayRef(const std::array<T, N> &v) : items(v.begin(), v.end()) {}
  const T &operator[](size_t i) const { if (i >= items.size()) throw vk::Refusal("index out of range"); return items[i]; }
  size_t size() const { return items.size(); } bool empty() const { return items.empty(); } std::vector<T> vec() const { return items; } const T *begin() const { return items.data(); } const T *end() const { return items.data() + items.size(); } const T *data() const { return items.data(); }
  bool operator==(const ArrayRef &o) const { return items == o.items; } bool operator!=(const ArrayRef &o) const { return items != o.items; } bool equals(ArrayRef o) const { return items == o.items; } const T &back() const { return (*this)[size() - 1]; } const T &front() const { return (*this)[0]; }
  ArrayRef slice(size_t a, size_t n) const { if (a + n > size()) throw vk::Refusal("slice"); return std::vector<T>(items.begin() + a, items.begin() + a + n); } ArrayRef slice(size_t a) const { return slice(a, size() - a); }
};
template <class T> std::ostream &operator<<(std::ostream &o, const ArrayRef<T> &) { return o << "[]"; }
typedef ArrayRef<int64_t> IntArrayRef;
template <class T> struct CppType; 
#define VK_DTYPE(T, S) template <> struct CppType<T> { static constexpr ScalarType value = ScalarType::S; };
VK_DTYPE(float, Float) VK_DTYPE(double, Double) VK_DTYPE(Half, Half) VK_DTYPE(BFloat16, BFloat16) VK_DTYPE(int, Int) VK_DTYPE(long, Long) VK_DTYPE(unsigned char, Byte) VK_DTYPE(signed char, Char) VK_DTYPE(short, Short) VK_DTYPE(bool, Bool) VK_DTYPE(unsigned short, UInt16) VK_DTYPE(unsigned, UInt32) VK_DTYPE(unsigned long, UInt64)
inline int64_t elementSize(ScalarType t) { switch (t) { case ScalarType::Byte: case ScalarType::Char: case ScalarType::Bool: case ScalarType::Float8_e4m3fn: case ScalarType::Float8_e5m2: return 1; case ScalarType::Short: case ScalarType::Half: case ScalarType::BFloat16: case ScalarType::UInt16: return 2; case ScalarType::Long: case ScalarType::Double: case ScalarType::UInt64: return 8; default: return 4; } }
namespace impl { template <ScalarType> struct ScalarTypeToCPPType;
#define VK_BACK(T, S) template <> struct ScalarTypeToCPPType<ScalarType::S> { typedef T type; };
VK_BACK(float, Float) VK_BACK(double, Double) VK_BACK(Half, Half) VK_BACK(BFloat16, BFloat16) VK_BACK(int, Int) VK_BACK(long, Long) VK_BACK(unsigned char, Byte) VK_BACK(signed char, Char) VK_BACK(short, Short) VK_BACK(bool, Bool)
template <ScalarType S> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<S>::type; }
struct Stream { Device device() const { return kCUDA; } };
namespace cuda {
struct CUDAStream { cudaStream_t stream() const { return nullptr; } operator cudaStream_t() const { return nullptr; } operator Stream() const { return {}; } void synchronize() const {} };
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; } inline CUDAStream getDefaultCUDAStream(int = -1) { return {}; } inline CUDAStream getStreamFromPool(bool = false, int = -1) { return {}; } inline int current_device() { return 0; } inline int device_count() { return 1; } inline void device_synchronize() {}
struct CUDAGuard { template <class T> CUDAGuard(const T &) {} }; struct OptionalCUDAGuard { OptionalCUDAGuard() {} template <class T> OptionalCUDAGuard(const T &) {} template <class T> void set_device(const T &) {} }; struct CUDAStreamGuard { template <class T> CUDAStreamGuard(const T &) {} };
}
struct OptionalDeviceGuard { template <class T> OptionalDeviceGuard(const T &) {} }; struct DeviceGuard { template <class T> DeviceGuard(const T &) {} };
typedef vk::Refusal Error;
}
namespace vk {
template <> struct Named<c10::Half> { static std::string name() { return "c10::Half"; } }; template <> struct Named<c10::BFloat16> { static std::string name() { return "c10::BFloat16"; } };
struct Any { Any() {} template <class T> Any(const T &) {} Any(std::initializer_list<Any>) {} };
}
namespace caffe2 { struct TypeMeta { c10::ScalarType t = c10::ScalarType::Float; TypeMeta() {} TypeMeta(c10::ScalarType s) : t(s) {} c10::ScalarType toScalarType() const { return t; } size_t itemsize() const { return c10::elementSize(t); } operator c10::ScalarType() const { return t; } const char *name() const { return ""; } };
inline bool operator==(const TypeMeta &a, const TypeMeta &b) { return a.t == b.t; } inline bool operator!=(const TypeMeta &a, const TypeMeta &b) { return a.t != b.t; } inline bool operator==(const TypeMeta &a, c10::ScalarType b) { return a.t == b; } inline bool operator!=(const TypeMeta &a, c10::ScalarType b) { return a.t != b; }
inline std::ostream &operator<<(std::ostream &o, const TypeMeta &) { return o; } }
namespace at {
using namespace c10; using c10::IntArrayRef; using c10::ScalarType; namespace impl = c10::impl;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong, kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble, kUInt32 = ScalarType::UInt32, kUInt16 = ScalarType::UInt16, kUInt64 = ScalarType::UInt64, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
constexpr c10::Layout kStrided = c10::Layout::Strided;
struct TensorOptions {
  std::optional<ScalarType> type; std::optional<Device> where;
  TensorOptions() {} TensorOptions(ScalarType t) : type(t) {} TensorOptions(Device d) : where(d) {} TensorOptions(DeviceType d) : where(Device(d)) {} TensorOptions(caffe2::TypeMeta m) : type(m.t) {}
  TensorOptions dtype(ScalarType t) const { auto o = *this; o.type = t; return o; } TensorOptions dtype(caffe2::TypeMeta m) const { return dtype(m.t); } TensorOptions device(Device d) const { auto o = *this; o.where = d; return o; } TensorOptions device(DeviceType d, int = -1) const { return device(Device(d)); } TensorOptions device(std::optional<Device> d) const { return d ? device(*d) : *this; }
  TensorOptions layout(Layout) const { return *this; } TensorOptions requires_grad(bool = true) const { return *this; } TensorOptions memory_format(MemoryFormat f) const { if (f > MemoryFormat::Preserve) throw vk::Unsupported{"memory_format"}; return *this; } TensorOptions pinned_memory(bool = true) const { return *this; }
  Device device() const { return where.value_or(Device(kCPU)); } caffe2::TypeMeta dtype() const { return type.value_or(kFloat); } bool is_cuda() const { return device().is_cuda(); }
};
inline std::ostream &operator<<(std::ostream &o, const TensorOptions &) { return o; }
struct DeprecatedTypeProperties { ScalarType t; bool cuda; ScalarType scalarType() const { return t; } bool is_cuda() const { return cuda; } operator TensorOptions() const { return TensorOptions(t).device(cuda ? kCUDA : kCPU); } operator ScalarType() const { return t; } };
typedef std::vector<int64_t> Dims;
inline Dims packed(const Dims &s) { Dims o(s.size()); int64_t n = 1; for (size_t i = s.size(); i-- > 0;) { o[i] = n; n *= std::max<int64_t>(s[i], 1); } return o; }
inline int64_t product(const Dims &s) { int64_t n = 1; for (auto v : s) if (__builtin_mul_overflow(n, v, &n)) throw vk::Refusal("size overflows"); return n; }
template <class T> struct DefaultPtrTraits { typedef T *PtrType; }; template <class T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> struct GenericPackedTensorAccessor {
  T *data_; std::array<I, N> sizes_, strides_; I size(I i) const { return sizes_.at(i); } I stride(I i) const { return strides_.at(i); } T *data() const { return data_; } };
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
#define VK_A vk::Any = {}
#define VK_NO(n) Tensor n(VK_A, VK_A, VK_A, VK_A, VK_A, VK_A, VK_A, VK_A) const { throw vk::Unsupported{#n}; }
#define VK_SAME(n) Tensor n(VK_A, VK_A, VK_A, VK_A) const { return made(sizes_, dtype_, true); }
#define VK_IN_PLACE(n) const Tensor &n(VK_A, VK_A, VK_A) const { changed(); return *this; }
#define VK_REDUCE(n) Tensor n() const { return made({}, dtype_, true); } Tensor n(ScalarType t) const { return made({}, t, true); } Tensor n(IntArrayRef d, bool keep = false, std::optional<ScalarType> t = {}) const { return reduced(d, keep, t.value_or(dtype_)); }
struct Tensor {
  std::shared_ptr<vk::Memory> memory; Dims sizes_, strides_; int64_t offset_ = 0; ScalarType dtype_ = kFloat; bool cpu_ = false;
  Tensor() {} Tensor(std::nullptr_t) {}
  static Tensor made(Dims s, ScalarType t, bool initialised, bool zero = false, bool cpu = false) {
    Tensor o; for (auto v : s) if (v < 0) throw vk::Refusal("negative dim");
    int64_t n; if (__builtin_mul_overflow(product(s), elementSize(t), &n)) throw vk::Refusal("size overflows");
    o.memory = vk::allocate(n, true); o.memory->initialised = initialised; o.memory->zero = zero; o.strides_ = packed(s); o.sizes_ = std::move(s); o.dtype_ = t; o.cpu_ = cpu; return o; }
  const Tensor &there() const { if (!memory) throw vk::Refusal("undefined tensor"); vk::tick(); return *this; }
  void changed() const { there(); memory->zero = false; }
  int64_t wrap(int64_t d, int64_t extra = 0) const { int64_t n = std::max<int64_t>(dim() + extra, 1); if (d < -n || d >= n) throw vk::Refusal("dim out of range"); return d < 0 ? d + n : d; }
  int64_t size(int64_t d) const { there(); if (sizes_.empty()) throw vk::Refusal("dim out of range"); return sizes_[wrap(d)]; } int64_t stride(int64_t d) const { there(); if (sizes_.empty()) throw vk::Refusal("dim out of range"); return strides_[wrap(d)]; }
  IntArrayRef sizes() const { there(); return sizes_; } IntArrayRef strides() const { there(); return strides_; } int64_t numel() const { there(); return product(sizes_); } int64_t dim() const { return there().sizes_.size(); } int64_t ndimension() const { return dim(); } int64_t storage_offset() const { return offset_; }
  int64_t extent() const { if (product(sizes_) == 0) return 0; int64_t n = 1; for (size_t i = 0; i < sizes_.size(); ++i) n += (sizes_[i] - 1) * strides_[i]; return n; }
  template <class T> T *address() const { there(); if (numel() == 0) return nullptr; uint64_t a = memory->address + offset_ * elementSize(dtype_); vk::asked()[{a, memory->id}] = extent() * elementSize(dtype_); return reinterpret_cast<T *>(a); }
  template <class T> T *data_ptr() const { if (CppType<std::remove_const_t<T>>::value != there().dtype_) throw vk::Refusal("expected another scalar type"); return address<T>(); }
  void *data_ptr() const { return address<void>(); } template <class T> T *data() const { return data_ptr<T>(); } template <class T> const T *const_data_ptr() const { return data_ptr<T>(); } const void *const_data_ptr() const { return data_ptr(); } template <class T> T *mutable_data_ptr() const { return data_ptr<T>(); } void *mutable_data_ptr() const { return data_ptr(); }
  TensorOptions options() const { there(); return TensorOptions(dtype_).device(device()); } ScalarType scalar_type() const { return there().dtype_; } caffe2::TypeMeta dtype() const { return there().dtype_; } DeprecatedTypeProperties type() const { return {there().dtype_, !cpu_}; } Device device() const { there(); return cpu_ ? Device(kCPU) : Device(kCUDA, 0); } int64_t get_device() const { return cpu_ ? -1 : 0; } Layout layout() const { return Layout::Strided; }
  bool is_cuda() const { there(); return !cpu_; } bool is_cpu() const { there(); return cpu_; } bool defined() const { return bool(memory); } bool is_floating_point() const { auto t = there().dtype_; return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16; } bool requires_grad() const { return false; } bool is_same(const Tensor &o) const { return memory == o.memory && sizes_ == o.sizes_; } bool is_sparse() const { return false; } bool is_complex() const { return false; } bool is_pinned() const { return false; }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const { there(); if (f > MemoryFormat::Preserve) throw vk::Unsupported{"memory_format"}; if (numel() == 0) return true; int64_t n = 1; for (size_t i = sizes_.size(); i-- > 0;) { if (sizes_[i] != 1) { if (strides_[i] != n) return false; n *= sizes_[i]; } } return true; }
  bool dense() const { std::vector<std::pair<int64_t, int64_t>> v; for (size_t i = 0; i < sizes_.size(); ++i) if (sizes_[i] != 1) v.push_back({strides_[i], sizes_[i]}); std::sort(v.begin(), v.end()); int64_t n = 1; for (auto [st, sz] : v) { if (st != n) return false; n *= sz; } return true; } bool is_non_overlapping_and_dense() const { return there().dense(); }
  int64_t element_size() const { return elementSize(there().dtype_); } size_t itemsize() const { return element_size(); } size_t nbytes() const { return numel() * element_size(); } MemoryFormat suggest_memory_format() const { throw vk::Unsupported{"suggest_memory_format"}; }
  template <class T> T item() const { if (numel() != 1) throw vk::Refusal("item of many"); if constexpr (std::is_same_v<T, bool>) return vk::dice()() % 2; else if constexpr (std::is_integral_v<T>) return T(int64_t(vk::dice()() % 40) - 4); else return T(float(vk::dice()() % 100)); } Scalar item() const { return Scalar(item<int64_t>()); }
  Tensor contiguous(MemoryFormat f = MemoryFormat::Contiguous) const { return is_contiguous(f) ? *this : made(sizes_, dtype_, true, false, cpu_); } Tensor clone(VK_A) const { Tensor o = made(sizes_, there().dtype_, memory->initialised || memory->written, false, cpu_); if (dense()) o.strides_ = strides_; return o; } Tensor detach() const { return there(); } Tensor alias() const { return there(); } Tensor data() const { return there(); } Tensor variable_data() const { return there(); }
  Tensor strided(Dims s, Dims st, int64_t off) const { Tensor o = there(); o.sizes_ = std::move(s); o.strides_ = std::move(st); o.offset_ = off; return o; }
  Dims inferred(const Dims &want) const { Dims s = want; int64_t n = 1, at = -1; for (size_t i = 0; i < s.size(); ++i) { if (s[i] == -1) { if (at >= 0) throw vk::Refusal("only one -1"); at = i; } else { if (s[i] < 0) throw vk::Refusal("invalid shape"); n *= s[i]; } } if (at >= 0) { if (n == 0 || numel() % n) throw vk::Refusal("invalid shape"); s[at] = numel() / n; } else if (n != numel()) throw vk::Refusal("invalid shape"); return s; }
  std::optional<Dims> restrided(const Dims &s) const {
    if (numel() == 0) return packed(s); Dims st(s.size()); int64_t v = int64_t(s.size()) - 1, chunk = sizes_.empty() ? 1 : strides_.back(), t = 1, w = 1; if (sizes_.empty()) return Dims(s.size(), 1);
    for (int64_t d = int64_t(sizes_.size()) - 1; d >= 0; --d) { t *= sizes_[d];
      if (d == 0 || (sizes_[d - 1] != 1 && strides_[d - 1] != t * chunk)) { while (v >= 0 && (w < t || s[v] == 1)) { st[v] = w * chunk; w *= s[v]; --v; } if (w != t) return {}; if (d > 0) { chunk = strides_[d - 1]; t = 1; w = 1; } } }
    return v == -1 ? std::optional<Dims>(st) : std::nullopt; }
  Tensor view(IntArrayRef want) const { Dims s = inferred(want.items); auto st = restrided(s); if (!st) throw vk::Refusal("view is not possible"); return strided(s, *st, offset_); } Tensor view(ScalarType t) const { if (elementSize(t) != element_size()) throw vk::Unsupported{"view of another size"}; Tensor o = *this; o.dtype_ = t; return o; }
  Tensor reshape(IntArrayRef want) const { Dims s = inferred(want.items); auto st = restrided(s); return st ? strided(s, *st, offset_) : made(s, dtype_, true); } Tensor view_as(const Tensor &o) const { return view(o.sizes()); } Tensor reshape_as(const Tensor &o) const { return reshape(o.sizes()); }
  Tensor flatten(int64_t a = 0, int64_t b = -1) const { if (sizes_.empty()) return reshape({1}); a = wrap(a); b = wrap(b); if (a > b) throw vk::Refusal("flatten"); Dims s(sizes_.begin(), sizes_.begin() + a); s.push_back(product(Dims(sizes_.begin() + a, sizes_.begin() + b + 1))); s.insert(s.end(), sizes_.begin() + b + 1, sizes_.end()); return reshape(s); } Tensor ravel() const { return flatten(); }
  Tensor squeeze() const { Dims s, st; for (size_t i = 0; i < there().sizes_.size(); ++i) if (sizes_[i] != 1) { s.push_back(sizes_[i]); st.push_back(strides_[i]); } return strided(s, st, offset_); } Tensor squeeze(int64_t d) const { d = wrap(d); Dims s = sizes_, st = strides_; if (!s.empty() && s[d] == 1) { s.erase(s.begin() + d); st.erase(st.begin() + d); } return strided(s, st, offset_); }
  Tensor unsqueeze(int64_t d) const { d = wrap(d, 1); Dims s = sizes_, st = strides_; int64_t n = d < dim() ? s[d] * st[d] : 1; s.insert(s.begin() + d, 1); st.insert(st.begin() + d, n); return strided(s, st, offset_); }
  Tensor transpose(int64_t a, int64_t b) const { Dims s = there().sizes_, st = strides_; if (s.empty()) return *this; a = wrap(a); b = wrap(b); std::swap(s[a], s[b]); std::swap(st[a], st[b]); return strided(s, st, offset_); } Tensor t() const { if (dim() > 2) throw vk::Refusal("t of more than two dims"); return dim() < 2 ? *this : transpose(0, 1); } Tensor mT() const { return transpose(-2, -1); }
  Tensor permute(IntArrayRef p) const { if (int64_t(p.size()) != dim()) throw vk::Refusal("permute"); Dims s, st; std::set<int64_t> seen; for (auto d : p.items) { d = wrap(d); if (!seen.insert(d).second) throw vk::Refusal("permute"); s.push_back(sizes_[d]); st.push_back(strides_[d]); } return strided(s, st, offset_); }
  Tensor expand(IntArrayRef want, bool = false) const { int64_t more = int64_t(want.size()) - dim(); if (more < 0) throw vk::Refusal("expand"); Dims s, st; for (int64_t i = 0; i < int64_t(want.size()); ++i) { int64_t w = want[i]; if (i < more) { if (w < 0) throw vk::Refusal("expand"); s.push_back(w); st.push_back(0); continue; } int64_t have = sizes_[i - more]; if (w == -1 || w == have) { s.push_back(have); st.push_back(strides_[i - more]); } else if (have == 1) { s.push_back(w); st.push_back(0); } else throw vk::Refusal("expand"); } return strided(s, st, offset_); } Tensor expand_as(const Tensor &o) const { return expand(o.sizes()); }
  Tensor select(int64_t d, int64_t i) const { if (dim() == 0) throw vk::Refusal("select"); d = wrap(d); if (i < -sizes_[d] || i >= sizes_[d]) throw vk::Refusal("index out of range"); if (i < 0) i += sizes_[d]; Dims s = sizes_, st = strides_; int64_t off = offset_ + i * st[d]; s.erase(s.begin() + d); st.erase(st.begin() + d); return strided(s, st, off); } Tensor operator[](int64_t i) const { return select(0, i); }
  Tensor slice(int64_t d = 0, std::optional<int64_t> a = {}, std::optional<int64_t> b = {}, int64_t step = 1) const { if (dim() == 0 || step < 1) throw vk::Refusal("slice"); d = wrap(d); int64_t n = sizes_[d], from = a.value_or(0), to = b.value_or(n); if (from < 0) from += n; if (to < 0) to += n; from = std::clamp<int64_t>(from, 0, n); to = std::clamp<int64_t>(to, from, n); Dims s = sizes_, st = strides_; int64_t off = offset_ + from * st[d]; s[d] = (to - from + step - 1) / step; st[d] *= step; return strided(s, st, off); }
  Tensor narrow(int64_t d, int64_t from, int64_t n) const { if (dim() == 0) throw vk::Refusal("narrow"); d = wrap(d); if (from < 0) from += sizes_[d]; if (from < 0 || n < 0 || from + n > sizes_[d]) throw vk::Refusal("narrow"); return slice(d, from, from + n); }
  Tensor to(ScalarType t, bool = false, bool = false, VK_A) const { return t == there().dtype_ ? *this : made(sizes_, t, true, false, cpu_); } Tensor to(caffe2::TypeMeta m) const { return to(m.t); } Tensor to(Device d, VK_A) const { if (d.is_cpu() == there().cpu_) return *this; return made(sizes_, dtype_, true, false, d.is_cpu()); } Tensor to(DeviceType d) const { return to(Device(d)); } Tensor to(Device d, ScalarType t, VK_A) const { return to(t).to(d); } Tensor to(TensorOptions o, VK_A) const { Tensor r = *this; if (o.type) r = r.to(*o.type); if (o.where) r = r.to(*o.where); return r; } Tensor to(const Tensor &o) const { return to(o.options()); } Tensor toType(ScalarType t) const { return to(t); } Tensor type_as(const Tensor &o) const { return to(o.options()); } Tensor cuda() const { return to(Device(kCUDA)); } Tensor cpu() const { return to(Device(kCPU)); } Tensor half() const { return to(kHalf); }
  const Tensor &zero_() const { there(); vk::set(reinterpret_cast<void *>(memory->address + offset_ * element_size()), 0, nbytes()); return *this; } const Tensor &fill_(Scalar v) const { there(); vk::set(reinterpret_cast<void *>(memory->address + offset_ * element_size()), v.value == 0 ? 0 : 1, nbytes()); if (v.value != 0) memory->zero = false; return *this; } const Tensor &copy_(const Tensor &, bool = false) const { changed(); memory->initialised = true; return *this; } Tensor &operator+=(vk::Any) { changed(); return *this; } Tensor &operator-=(vk::Any) { changed(); return *this; } Tensor &operator*=(vk::Any) { changed(); return *this; } Tensor &operator/=(vk::Any) { changed(); return *this; } Tensor operator-() const { return made(sizes_, dtype_, true); }
  void reset() { *this = Tensor(); } Tensor new_empty(IntArrayRef s, TensorOptions o = {}) const { return made(s.items, o.type.value_or(there().dtype_), false); } Tensor new_zeros(IntArrayRef s, TensorOptions o = {}) const { return made(s.items, o.type.value_or(there().dtype_), true, true); } Tensor new_ones(IntArrayRef s, TensorOptions o = {}) const { return made(s.items, o.type.value_or(there().dtype_), true); }
  Tensor reduced(IntArrayRef dims, bool keep, ScalarType t) const { std::set<int64_t> gone; for (auto d : dims.items) gone.insert(wrap(d)); Dims s; for (int64_t i = 0; i < dim(); ++i) { if (!gone.count(i)) s.push_back(sizes_[i]); else if (keep) s.push_back(1); } return made(s, t, true); }
  template <class T, size_t N> GenericPackedTensorAccessor<T, N> accessor() const { throw vk::Unsupported{"accessor"}; }
  template <class T, size_t N, template <class> class P, class I> GenericPackedTensorAccessor<T, N, P, I> packing() const { if (dim() != int64_t(N)) throw vk::Refusal("expected another rank"); if (sizeof(I) == 4 && numel() > INT_MAX) throw vk::Refusal("too large for a 32-bit accessor"); GenericPackedTensorAccessor<T, N, P, I> o; o.data_ = data_ptr<T>(); for (size_t i = 0; i < N; ++i) { o.sizes_[i] = I(sizes_[i]); o.strides_[i] = I(strides_[i]); } return o; }
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const { return packing<T, N, P, int32_t>(); } template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const { return packing<T, N, P, int64_t>(); } template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const { return packing<T, N, P, I>(); }
  VK_REDUCE(sum) VK_REDUCE(mean) VK_REDUCE(amax) VK_REDUCE(amin) VK_REDUCE(prod)
  Tensor max() const { return made({}, dtype_, true); } Tensor min() const { return made({}, dtype_, true); } std::tuple<Tensor, Tensor> max(int64_t d, bool keep = false) const { return {reduced(d, keep, dtype_), reduced(d, keep, kLong)}; } std::tuple<Tensor, Tensor> min(int64_t d, bool keep = false) const { return max(d, keep); } Tensor argmax() const { return made({}, kLong, true); } Tensor argmax(int64_t d, bool keep = false) const { return reduced(d, keep, kLong); }
  VK_SAME(abs) VK_SAME(sqrt) VK_SAME(rsqrt) VK_SAME(exp) VK_SAME(log) VK_SAME(tanh) VK_SAME(sigmoid) VK_SAME(relu) VK_SAME(neg) VK_SAME(square) VK_SAME(clamp) VK_SAME(sin) VK_SAME(cos) VK_SAME(floor) VK_SAME(ceil) VK_SAME(round) VK_SAME(softmax) VK_SAME(log_softmax)
  VK_IN_PLACE(mul_) VK_IN_PLACE(add_) VK_IN_PLACE(sub_) VK_IN_PLACE(div_) VK_IN_PLACE(clamp_) VK_IN_PLACE(relu_) VK_IN_PLACE(exp_) VK_IN_PLACE(sqrt_) VK_IN_PLACE(uniform_) VK_IN_PLACE(normal_)
  Tensor broadcast(const Tensor &o) const { Dims a = there().sizes_, b = o.there().sizes_; if (a.size() < b.size()) std::swap(a, b); size_t more = a.size() - b.size(); for (size_t i = 0; i < b.size(); ++i) { if (a[more + i] == 1) a[more + i] = b[i]; else if (b[i] != 1 && b[i] != a[more + i]) throw vk::Refusal("shapes do not broadcast"); } return made(a, dtype_, true); }
  Tensor mul(const Tensor &o) const { return broadcast(o); } Tensor add(const Tensor &o) const { return broadcast(o); } Tensor sub(const Tensor &o) const { return broadcast(o); } Tensor div(const Tensor &o) const { return broadcast(o); } Tensor mul(Scalar) const { return made(sizes_, dtype_, true); } Tensor add(Scalar) const { return made(sizes_, dtype_, true); } Tensor sub(Scalar) const { return made(sizes_, dtype_, true); } Tensor div(Scalar) const { return made(sizes_, dtype_, true); }
  bool equal(const Tensor &) const { return vk::dice()() % 2; } Tensor index_select(int64_t d, const Tensor &i) const { d = wrap(d); Dims s = sizes_; s[d] = i.numel(); return made(s, dtype_, true); } Tensor repeat(IntArrayRef r) const { int64_t more = int64_t(r.size()) - dim(); if (more < 0) throw vk::Refusal("repeat"); Dims s = r.items; for (int64_t i = 0; i < dim(); ++i) s[more + i] *= sizes_[i]; return made(s, dtype_, true); }
  Tensor matmul(const Tensor &o) const { if (dim() != 2 || o.dim() != 2) throw vk::Unsupported{"matmul of other ranks"}; if (size(1) != o.size(0)) throw vk::Refusal("matmul"); return made({size(0), o.size(1)}, dtype_, true); } Tensor mm(const Tensor &o) const { return matmul(o); }
  VK_NO(bmm) VK_NO(mv) VK_NO(dot) VK_NO(var) VK_NO(std) VK_NO(norm) VK_NO(argmin) VK_NO(pow) VK_NO(index) VK_NO(unfold) VK_NO(to_dense) VK_NO(masked_fill) VK_NO(gather) VK_NO(cumsum) VK_NO(cumprod) VK_NO(movedim) VK_NO(swapaxes) VK_NO(toDouble) VK_NO(new_full) VK_NO(all) VK_NO(any) VK_NO(nonzero) VK_NO(eq) VK_NO(ne) VK_NO(lt) VK_NO(gt) VK_NO(le) VK_NO(ge) VK_NO(baddbmm) VK_NO(addmm) VK_NO(as_strided) VK_NO(diagonal) VK_NO(triu) VK_NO(tril) VK_NO(logsumexp) VK_NO(flip) VK_NO(roll) VK_NO(unflatten) VK_NO(broadcast_to) VK_NO(tile) VK_NO(resize_) VK_NO(index_put_) VK_NO(scatter_) VK_NO(scatter_add_) VK_NO(masked_fill_) VK_NO(grad) VK_NO(mutable_grad) VK_NO(unsqueeze_) VK_NO(squeeze_) VK_NO(transpose_) VK_NO(t_) VK_NO(set_requires_grad)
  std::vector<Tensor> split(VK_A, VK_A) const { throw vk::Unsupported{"split"}; } std::vector<Tensor> chunk(int64_t n, int64_t d = 0) const { d = wrap(d); std::vector<Tensor> o; int64_t step = (sizes_[d] + n - 1) / n; for (int64_t i = 0; i < sizes_[d]; i += step) o.push_back(slice(d, i, i + step)); return o; } std::vector<Tensor> unbind(int64_t d = 0) const { std::vector<Tensor> o; d = wrap(d); for (int64_t i = 0; i < sizes_.at(d); ++i) o.push_back(select(d, i)); return o; }
};
inline std::ostream &operator<<(std::ostream &o, const Tensor &) { return o; }
inline bool cpu_of(const TensorOptions &o) { return !o.is_cuda(); }
#define VK_MAKE(n, I, Z) inline Tensor n(IntArrayRef s, TensorOptions o = {}) { return Tensor::made(s.items, o.type.value_or(kFloat), I, Z, cpu_of(o)); } inline Tensor n##_like(const Tensor &x, TensorOptions o = {}) { x.there(); Tensor r = Tensor::made(x.sizes_, o.type.value_or(x.dtype_), I, Z, o.where ? cpu_of(o) : x.cpu_); if (x.dense()) r.strides_ = x.strides_; return r; }
VK_MAKE(empty, false, false) VK_MAKE(zeros, true, true) VK_MAKE(ones, true, false) VK_MAKE(rand, true, false) VK_MAKE(randn, true, false)
inline Tensor full(IntArrayRef s, Scalar v, TensorOptions o = {}) { return Tensor::made(s.items, o.type.value_or(kFloat), true, v.value == 0, cpu_of(o)); } inline Tensor full_like(const Tensor &x, Scalar v, TensorOptions o = {}) { Tensor r = ones_like(x, o); r.memory->zero = v.value == 0; return r; }
inline Tensor arange(Scalar n, TensorOptions o = {}) { return Tensor::made({std::max<int64_t>(0, n.whole)}, o.type.value_or(kLong), true, false, cpu_of(o)); } inline Tensor scalar_tensor(Scalar, TensorOptions o = {}) { return Tensor::made({}, o.type.value_or(kFloat), true, false, cpu_of(o)); }
inline Tensor operator+(const Tensor &a, const Tensor &b) { return a.broadcast(b); } inline Tensor operator-(const Tensor &a, const Tensor &b) { return a.broadcast(b); } inline Tensor operator*(const Tensor &a, const Tensor &b) { return a.broadcast(b); } inline Tensor operator/(const Tensor &a, const Tensor &b) { return a.broadcast(b); }
inline Tensor operator+(const Tensor &a, Scalar) { return a.abs(); } inline Tensor operator-(const Tensor &a, Scalar) { return a.abs(); } inline Tensor operator*(const Tensor &a, Scalar) { return a.abs(); } inline Tensor operator/(const Tensor &a, Scalar) { return a.abs(); } inline Tensor operator+(Scalar, const Tensor &a) { return a.abs(); } inline Tensor operator-(Scalar, const Tensor &a) { return a.abs(); } inline Tensor operator*(Scalar, const Tensor &a) { return a.abs(); }
inline Tensor matmul(const Tensor &a, const Tensor &b) { return a.matmul(b); } inline Tensor mm(const Tensor &a, const Tensor &b) { return a.matmul(b); } inline Tensor reshape(const Tensor &a, IntArrayRef s) { return a.reshape(s); } inline Tensor flatten(const Tensor &a, int64_t x = 0, int64_t y = -1) { return a.flatten(x, y); } inline Tensor transpose(const Tensor &a, int64_t x, int64_t y) { return a.transpose(x, y); } inline Tensor unsqueeze(const Tensor &a, int64_t d) { return a.unsqueeze(d); } inline Tensor squeeze(const Tensor &a, int64_t d) { return a.squeeze(d); } inline Tensor permute(const Tensor &a, IntArrayRef p) { return a.permute(p); }
#define VK_UNARY(n) inline Tensor n(const Tensor &a, VK_A, VK_A) { return a.abs(); }
VK_UNARY(sqrt) VK_UNARY(exp) VK_UNARY(log) VK_UNARY(tanh) VK_UNARY(sigmoid) VK_UNARY(relu) VK_UNARY(abs) VK_UNARY(gelu) VK_UNARY(silu) VK_UNARY(softmax) VK_UNARY(rsqrt) VK_UNARY(square) VK_UNARY(leaky_relu) VK_UNARY(clone)
#define VK_NOT(n) inline Tensor n(VK_A, VK_A, VK_A, VK_A, VK_A, VK_A, VK_A, VK_A) { throw vk::Unsupported{#n}; }
VK_NOT(randint) VK_NOT(linspace) VK_NOT(eye) VK_NOT(tensor) VK_NOT(from_blob) VK_NOT(empty_strided) VK_NOT(cat) VK_NOT(stack) VK_NOT(bmm) VK_NOT(add) VK_NOT(sub) VK_NOT(mul) VK_NOT(div) VK_NOT(sum) VK_NOT(mean) VK_NOT(log_softmax) VK_NOT(conv1d) VK_NOT(conv2d) VK_NOT(conv3d) VK_NOT(conv_transpose1d) VK_NOT(conv_transpose2d) VK_NOT(conv_transpose3d) VK_NOT(linear) VK_NOT(pow) VK_NOT(clamp) VK_NOT(where) VK_NOT(var) VK_NOT(std) VK_NOT(norm) VK_NOT(addmm) VK_NOT(baddbmm) VK_NOT(einsum) VK_NOT(max_pool2d) VK_NOT(avg_pool2d) VK_NOT(adaptive_avg_pool2d) VK_NOT(batch_norm) VK_NOT(layer_norm) VK_NOT(group_norm) VK_NOT(dropout) VK_NOT(triu) VK_NOT(tril) VK_NOT(constant_pad_nd) VK_NOT(pad) VK_NOT(cumsum) VK_NOT(argmax) VK_NOT(argmin) VK_NOT(max) VK_NOT(min) VK_NOT(amax) VK_NOT(amin) VK_NOT(logsumexp) VK_NOT(dot) VK_NOT(outer) VK_NOT(elu) VK_NOT(convolution)
namespace cuda { using namespace c10::cuda; inline cudaDeviceProp *getCurrentDeviceProperties() { static cudaDeviceProp p; p = cudaDeviceProp(); return &p; } inline cudaDeviceProp *getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); } inline int warp_size() { return 32; } }
template <class T> T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T> struct acc_type_ { typedef T type; }; template <> struct acc_type_<Half> { typedef float type; }; template <> struct acc_type_<BFloat16> { typedef float type; };
template <class T, bool> using acc_type = typename acc_type_<T>::type; template <class T> using opmath_type = typename acc_type_<T>::type;
}
namespace vk {
template <class T, size_t N, template <class> class P, class I> struct Shown<at::GenericPackedTensorAccessor<T, N, P, I>> {
  static void show(std::ostream &o, const at::GenericPackedTensorAccessor<T, N, P, I> &a) { pointer(o, a.data_, std::is_const_v<T>); if (Memory *m = find(a.data_)) touched().push_back(m); o << ", \"sizes\": ["; for (size_t i = 0; i < N; ++i) o << (i ? ", " : "") << a.sizes_[i]; o << "], \"strides\": ["; for (size_t i = 0; i < N; ++i) o << (i ? ", " : "") << a.strides_[i]; o << "]"; } };
}
namespace torch {
using namespace at; typedef at::ScalarType Dtype; typedef IntArrayRef IntList; inline TensorOptions dtype(ScalarType t) { return t; } inline TensorOptions device(Device d) { return d; } inline TensorOptions requires_grad(bool = true) { return {}; } struct NoGradGuard {};
namespace nn { namespace functional { using namespace at; } } namespace indexing { struct Slice { Slice(VK_A, VK_A, VK_A) {} }; struct None_t {}; constexpr None_t None{}; }
namespace autograd { typedef std::vector<at::Tensor> tensor_list, variable_list; typedef at::Tensor Variable; struct AutogradContext { void save_for_backward(vk::Any) {} tensor_list get_saved_variables() { throw vk::Unsupported{"saved variables"}; } }; template <class T> struct Function { template <class... A> static at::Tensor apply(A &&...) { throw vk::Unsupported{"autograd"}; } }; }
}
namespace pybind11 { struct arg { arg(const char *) {} template <class T> arg operator=(T) { return *this; } arg none(bool = true) { return *this; } arg noconvert(bool = true) { return *this; } }; struct object {}; struct none : object {}; struct module_ { template <class... A> module_ &def(A &&...) { return *this; } std::string doc() { return ""; } }; typedef module_ module; }
namespace py = pybind11;
namespace vk { struct library { template <class... A> library &def(A &&...) { return *this; } template <class... A> library &impl(A &&...) { return *this; } }; }

#define VK_CHECK(c, ...) do { if (!(c)) throw ::vk::Refusal(#c); } while (0)
#define TORCH_CHECK(c, ...) VK_CHECK(c)
#define TORCH_INTERNAL_ASSERT(c, ...) VK_CHECK(c)
#define TORCH_CHECK_VALUE(c, ...) VK_CHECK(c)
#define TORCH_CHECK_TYPE(c, ...) VK_CHECK(c)
#define TORCH_CHECK_INDEX(c, ...) VK_CHECK(c)
#define TORCH_CHECK_NOT_IMPLEMENTED(c, ...) VK_CHECK(c)
#define TORCH_CHECK_ARG(c, ...) VK_CHECK(c)
#define TORCH_CHECK_EQ(a, b) VK_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) VK_CHECK((a) != (b))
#define TORCH_CHECK_LE(a, b) VK_CHECK((a) <= (b))
#define TORCH_CHECK_LT(a, b) VK_CHECK((a) < (b))
#define TORCH_CHECK_GE(a, b) VK_CHECK((a) >= (b))
#define TORCH_CHECK_GT(a, b) VK_CHECK((a) > (b))
#define AT_ASSERTM(c, ...) VK_CHECK(c)
#define AT_ASSERT(c, ...) VK_CHECK(c)
#define AT_CHECK(c, ...) VK_CHECK(c)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) ((void)0)
#define AT_ERROR(...) throw ::vk::Refusal("AT_ERROR")
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)
#define C10_CUDA_CHECK(e) ((void)(e))
#define AT_CUDA_CHECK(e) ((void)(e))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_UNLIKELY(e) (e)
#define C10_LIKELY(e) (e)
#define TORCH_EXTENSION_NAME vk_extension
#define PYBIND11_MODULE(n, m) void vk_bindings(pybind11::module_ &m)
#define TORCH_LIBRARY(n, m) void vk_library_##n(vk::library &m)
#define TORCH_LIBRARY_FRAGMENT(n, m) void vk_fragment_##n(vk::library &m)
#define TORCH_LIBRARY_IMPL(n, k, m) void vk_impl_##n##_##k(vk::library &m)
#define VK_CASE_S(S, ...) if (vk_type == (S)) { using scalar_t [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<S>; return (__VA_ARGS__)(); }
#define VK_CASE(S, ...) VK_CASE_S(::c10::ScalarType::S, __VA_ARGS__)
#define VK_FLOATS(...) VK_CASE(Double, __VA_ARGS__) VK_CASE(Float, __VA_ARGS__)
#define VK_INTS(...) VK_CASE(Byte, __VA_ARGS__) VK_CASE(Char, __VA_ARGS__) VK_CASE(Int, __VA_ARGS__) VK_CASE(Long, __VA_ARGS__) VK_CASE(Short, __VA_ARGS__)
#define VK_SWITCH(TYPE, ...) [&] { const ::c10::ScalarType vk_type = ::vk::type_of(TYPE); __VA_ARGS__ throw ::vk::Refusal("not implemented for this dtype"); }()
namespace vk { inline c10::ScalarType type_of(c10::ScalarType t) { return t; } inline c10::ScalarType type_of(const at::DeprecatedTypeProperties &p) { return p.t; } inline c10::ScalarType type_of(const caffe2::TypeMeta &m) { return m.t; } }
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__) VK_CASE(Half, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(S1, TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__) VK_CASE_S(S1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(S1, S2, TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__) VK_CASE_S(S1, __VA_ARGS__) VK_CASE_S(S2, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) VK_SWITCH(TYPE, VK_CASE(Half, __VA_ARGS__) VK_CASE(BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) VK_SWITCH(TYPE, VK_INTS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__) VK_INTS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(S1, TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__) VK_INTS(__VA_ARGS__) VK_CASE_S(S1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(S1, S2, TYPE, NAME, ...) VK_SWITCH(TYPE, VK_FLOATS(__VA_ARGS__) VK_INTS(__VA_ARGS__) VK_CASE_S(S1, __VA_ARGS__) VK_CASE_S(S2, __VA_ARGS__))
