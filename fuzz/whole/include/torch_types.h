// PyTorch's names that have nothing to do with memory: dtypes, devices, options, array references. After cuda_types.h.
#pragma once
namespace c10 {
VK_SMALL(Half, half) VK_SMALL(BFloat16, brain)
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
  double value = 0; int64_t whole = 0; bool real = false;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Scalar(T v) : value(double(v)), whole(int64_t(v)), real(std::is_floating_point_v<T>) {}
  template <class T> T to() const { if constexpr (std::is_integral_v<T>) return T(whole); else return T(value); } double toDouble() const { return value; } float toFloat() const { return float(value); } int64_t toLong() const { return whole; } int toInt() const { return int(whole); }
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
}
