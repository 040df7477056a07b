// The CUDA runtime for host code that is really run: memory has addresses and sizes but no bytes, and a launch is
// written down instead of made. One line of JSON a launch goes to standard output (see benchmarks/contract_oracle.py).
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
#include <ext/stdio_filebuf.h>
#include <fcntl.h>
#include <unistd.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __managed__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __restrict__
#define __restrict

namespace nvcuda { namespace wmma {} } namespace cooperative_groups {} namespace cub {} namespace cuda {}
namespace vk {
struct Unsupported { std::string what; };   // something that this stand-in does not do: the case says nothing
struct Refusal : std::runtime_error { using std::runtime_error::runtime_error; };   // a check of the host code failed
struct Enough {};                           // launches beyond the cap, or out of time

struct Memory {
  uint64_t address = 0; int64_t bytes = 0; int id = 0; bool fresh = true; bool initialised = false; bool zero = false; bool written = false;
};
// Where the records go; what the host code itself prints goes nowhere.
inline std::ostream &out() {
  static __gnu_cxx::stdio_filebuf<char> *buffer = [] { int kept = dup(1); dup2(open("/dev/null", O_WRONLY), 1); return new __gnu_cxx::stdio_filebuf<char>(kept, std::ios::out); }();
  static std::ostream stream(buffer);
  return stream;
}
inline std::map<uint64_t, std::shared_ptr<Memory>> &live() { static std::map<uint64_t, std::shared_ptr<Memory>> m; return m; }
inline std::map<std::pair<uint64_t, int>, int64_t> &asked() { static std::map<std::pair<uint64_t, int>, int64_t> m; return m; }
inline uint64_t &next_address() { static uint64_t a = uint64_t(1) << 44; return a; }
inline int &next_id() { static int n = 0; return n; }
inline std::mt19937_64 &dice() { static std::mt19937_64 d; return d; }
inline std::chrono::steady_clock::time_point &deadline() { static std::chrono::steady_clock::time_point t; return t; }
inline void tick() { if (std::chrono::steady_clock::now() > deadline()) throw Enough{}; }

// Every piece is far from every other, so an address tells its piece even when it lies outside.
inline std::shared_ptr<Memory> allocate(int64_t bytes, bool fresh, int64_t misalign = 0) {
  tick();
  if (bytes < 0) throw Refusal("negative size");
  auto m = std::make_shared<Memory>();
  m->bytes = bytes; m->id = next_id()++; m->fresh = fresh; m->address = next_address() + misalign;
  int64_t step = (bytes + misalign + (int64_t(1) << 21)) & ~((int64_t(1) << 20) - 1);
  if (step < 0 || bytes > (int64_t(1) << 46)) throw Refusal("out of memory");
  next_address() += step;
  live()[m->address] = m;
  return m;
}
inline Memory *find(const void *p) {
  auto a = reinterpret_cast<uint64_t>(p);
  auto it = live().upper_bound(a);
  if (it == live().begin()) return nullptr;
  Memory *m = std::prev(it)->second.get();
  return a <= m->address + m->bytes + (1 << 19) ? m : nullptr;
}
inline void reset() { live().clear(); asked().clear(); next_address() = uint64_t(1) << 44; next_id() = 0; deadline() = std::chrono::steady_clock::now() + std::chrono::milliseconds(400); }
}

struct dim3 { unsigned x, y, z; constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
struct uint3 { unsigned x, y, z; };
typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned long ulong;
static const uint3 threadIdx{}, blockIdx{}; static const dim3 blockDim, gridDim; static const int warpSize = 32;
#define VK_VECTOR(T, N) \
  struct N##1 { T x; }; struct alignas(2 * sizeof(T)) N##2 { T x, y; }; struct N##3 { T x, y, z; }; \
  struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) N##4 { T x, y, z, w; }; \
  inline N##2 make_##N##2(T a, T b) { return {a, b}; } inline N##3 make_##N##3(T a, T b, T c) { return {a, b, c}; } \
  inline N##4 make_##N##4(T a, T b, T c, T d) { return {a, b, c, d}; }
VK_VECTOR(float, float) VK_VECTOR(double, double) VK_VECTOR(int, int) VK_VECTOR(short, short) VK_VECTOR(signed char, char)
VK_VECTOR(long, long) VK_VECTOR(long long, longlong) VK_VECTOR(unsigned char, uchar) VK_VECTOR(unsigned short, ushort) VK_VECTOR(unsigned long, ulong)
struct uint1 { unsigned x; }; struct alignas(8) uint2 { unsigned x, y; }; struct alignas(16) uint4 { unsigned x, y, z, w; };
inline uint2 make_uint2(unsigned a, unsigned b) { return {a, b}; } inline uint4 make_uint4(unsigned a, unsigned b, unsigned c, unsigned d) { return {a, b, c, d}; }
#define VK_SMALL(N) struct N { unsigned short bits = 0; N() = default; template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> N(T) {} operator float() const { return 1.0f; } };
VK_SMALL(__half) VK_SMALL(__nv_bfloat16)
typedef __half half; typedef __nv_bfloat16 nv_bfloat16; typedef __nv_bfloat16 __nv_bfloat16_t;
struct alignas(4) __half2 { __half x, y; }; struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __half2 half2; typedef __nv_bfloat162 nv_bfloat162;
inline __half __float2half(float f) { return f; } inline float __half2float(__half h) { return h; } inline __half __float2half_rn(float f) { return f; }
inline __nv_bfloat16 __float2bfloat16(float f) { return f; } inline float __bfloat162float(__nv_bfloat16 h) { return h; }
struct __nv_fp8_e4m3 { unsigned char x; }; struct __nv_fp8_e5m2 { unsigned char x; };
struct curandState { int x; }; typedef curandState curandState_t; typedef curandState curandStatePhilox4_32_10_t;
using std::max; using std::min; using std::isnan; using std::isinf; using std::isfinite; using std::signbit;
template <class A, class B, class = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>> constexpr std::common_type_t<A, B> min(A a, B b) { std::common_type_t<A, B> x = a, y = b; return y < x ? y : x; }
template <class A, class B, class = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>> constexpr std::common_type_t<A, B> max(A a, B b) { std::common_type_t<A, B> x = a, y = b; return x < y ? y : x; }

enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
struct CUstream_st; typedef CUstream_st *cudaStream_t; typedef cudaStream_t CUstream; struct CUevent_st; typedef CUevent_st *cudaEvent_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeNonPortableClusterSizeAllowed = 10 };
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum { cudaStreamNonBlocking = 1, cudaStreamDefault = 0, cudaEventDisableTiming = 2, cudaSharedmemCarveoutMaxShared = 100, cudaEventDefault = 0 };
struct cudaDeviceProp {
  char name[256] = "stand-in"; size_t totalGlobalMem = size_t(16) << 30, sharedMemPerBlock = 49152, sharedMemPerMultiprocessor = 102400, sharedMemPerBlockOptin = 101376;
  int regsPerBlock = 65536, warpSize = 32, maxThreadsPerBlock = 1024, maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {2147483647, 65535, 65535};
  int clockRate = 1000, major = 8, minor = 0, multiProcessorCount = 1 + int(vk::dice()() % 132), maxThreadsPerMultiProcessor = 2048, memoryClockRate = 1000, memoryBusWidth = 4096, l2CacheSize = 1 << 20;
};
namespace vk {
inline cudaError_t put(void **p, size_t n) { auto m = allocate(int64_t(n), true); *p = reinterpret_cast<void *>(m->address); asked()[{m->address, m->id}] = int64_t(n); return cudaSuccess; }
inline cudaError_t set(const void *p, int value, size_t n) { if (Memory *m = find(p)) { if (reinterpret_cast<uint64_t>(p) == m->address && int64_t(n) >= m->bytes) { m->initialised = true; m->zero = value == 0; } else m->zero = m->zero && value == 0; } return cudaSuccess; }
inline cudaError_t copy(void *to, const void *from, size_t n) { Memory *d = find(to), *s = find(from); if (d) { d->zero = false; d->initialised = true; } if (!d && !s) std::memcpy(to, from, n); if (!d && s) std::memset(to, 0, n); return cudaSuccess; }
}
template <class T> cudaError_t cudaMalloc(T **p, size_t n) { return vk::put(reinterpret_cast<void **>(p), n); }
template <class T> cudaError_t cudaMallocAsync(T **p, size_t n, cudaStream_t) { return vk::put(reinterpret_cast<void **>(p), n); }
template <class T> cudaError_t cudaMallocManaged(T **, size_t, unsigned = 1) { throw vk::Unsupported{"cudaMallocManaged"}; }
template <class T> cudaError_t cudaMallocHost(T **p, size_t n, unsigned = 0) { *p = static_cast<T *>(std::calloc(1, n)); return cudaSuccess; }
template <class T> cudaError_t cudaHostAlloc(T **p, size_t n, unsigned = 0) { return cudaMallocHost(p, n); }
inline cudaError_t cudaFree(void *) { return cudaSuccess; } inline cudaError_t cudaFreeAsync(void *, cudaStream_t) { return cudaSuccess; } inline cudaError_t cudaFreeHost(void *p) { std::free(p); return cudaSuccess; }
inline cudaError_t cudaMemcpy(void *d, const void *s, size_t n, cudaMemcpyKind) { return vk::copy(d, s, n); } inline cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, cudaMemcpyKind, cudaStream_t = nullptr) { return vk::copy(d, s, n); }
inline cudaError_t cudaMemset(void *p, int v, size_t n) { return vk::set(p, v, n); } inline cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t = nullptr) { return vk::set(p, v, n); }
template <class T> cudaError_t cudaMemcpyToSymbol(T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) { return cudaSuccess; }
template <class T> cudaError_t cudaMemcpyToSymbolAsync(T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) { return cudaSuccess; }
template <class T> cudaError_t cudaMemcpyFromSymbol(void *, T &, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) { return cudaSuccess; }
template <class T> cudaError_t cudaGetSymbolAddress(void **, T &) { throw vk::Unsupported{"cudaGetSymbolAddress"}; }
#define VK_FINE(NAME, ...) inline cudaError_t NAME(__VA_ARGS__) { return cudaSuccess; }
VK_FINE(cudaGetLastError) VK_FINE(cudaPeekAtLastError) VK_FINE(cudaDeviceSynchronize) VK_FINE(cudaDeviceReset) VK_FINE(cudaStreamSynchronize, cudaStream_t) VK_FINE(cudaStreamDestroy, cudaStream_t)
VK_FINE(cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned = 0) VK_FINE(cudaEventRecord, cudaEvent_t, cudaStream_t = nullptr) VK_FINE(cudaEventSynchronize, cudaEvent_t) VK_FINE(cudaEventDestroy, cudaEvent_t) VK_FINE(cudaSetDevice, int)
inline const char *cudaGetErrorString(cudaError_t) { return ""; } inline const char *cudaGetErrorName(cudaError_t) { return ""; }
inline cudaError_t cudaStreamCreate(cudaStream_t *s) { *s = nullptr; return cudaSuccess; } inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { *s = nullptr; return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = nullptr; return cudaSuccess; } inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { *e = nullptr; return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *f, cudaEvent_t, cudaEvent_t) { *f = 1; return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *d) { *d = 0; return cudaSuccess; } inline cudaError_t cudaGetDeviceCount(int *d) { *d = 1; return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) { *p = cudaDeviceProp(); return cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int) {
  cudaDeviceProp p;
  switch (a) { case cudaDevAttrMultiProcessorCount: *v = p.multiProcessorCount; break; case cudaDevAttrMaxThreadsPerBlock: *v = 1024; break; case cudaDevAttrWarpSize: *v = 32; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *v = 49152; break; case cudaDevAttrMaxThreadsPerMultiProcessor: *v = 2048; break; default: *v = 101376; }
  return cudaSuccess;
}
template <class F> cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) { return cudaSuccess; } template <class F> cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, F, int, size_t) { *n = 1 + int(vk::dice()() % 16); return cudaSuccess; }
template <class F> cudaError_t cudaOccupancyMaxPotentialBlockSize(int *g, int *b, F, size_t = 0, int = 0) { *g = 1 + int(vk::dice()() % 400); *b = 32 * (1 + int(vk::dice()() % 32)); return cudaSuccess; }

namespace vk {
struct Config { int line = 0; const char *file = ""; dim3 grid, block; size_t shared = 0; cudaStream_t stream = nullptr; bool open = false; };
inline Config &config() { static Config c; return c; }
inline int &launches() { static int n = 0; return n; }
inline void configure(int line, const char *file, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) { config() = {line, file, grid, block, shared, stream, true}; }
inline std::string quoted(const std::string &s) { std::string o = "\""; for (char c : s) { if (c == '"' || c == '\\') o += '\\'; o += c; } return o + "\""; }

template <class T> struct Named { static std::string name() { int status; char *s = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status); std::string o = s ? s : typeid(T).name(); std::free(s); return o; } };
template <class T> std::string type_text() { return Named<T>::name(); }
template <class T> std::string value_text(T v) {
  if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
  else if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<long long>(v));
  else if constexpr (std::is_integral_v<T>) return std::to_string(v);
  else return "?";
}
// What a parameter held: extents are looked up by address.
template <class T> struct Shown { static void show(std::ostream &o, const T &) { o << "\"kind\": \"other\""; } };
template <class T> void scalar(std::ostream &o, T v) {
  if constexpr (std::is_same_v<T, bool>) o << "\"kind\": \"int\", \"value\": " << int(v);
  else if constexpr (std::is_integral_v<T>) o << "\"kind\": \"int\", \"value\": " << std::to_string(v);
  else o << "\"kind\": \"float\", \"value\": " << (std::isfinite(double(v)) ? std::to_string(double(v)) : "null");
}
inline void pointer(std::ostream &o, const void *p, bool constant) {
  auto a = reinterpret_cast<uint64_t>(p);
  o << "\"kind\": \"pointer\", \"address\": " << a << ", \"const\": " << (constant ? "true" : "false");
  Memory *m = find(p);
  if (!m) { o << ", \"memory\": null"; return; }
  auto it = asked().find({a, m->id});
  o << ", \"memory\": " << m->id << ", \"offset\": " << int64_t(a - m->address) << ", \"bytes\": " << m->bytes << ", \"fresh\": " << (m->fresh ? "true" : "false") << ", \"initialised\": " << (m->initialised ? "true" : "false")
    << ", \"zero\": " << (m->zero ? "true" : "false") << ", \"written\": " << (m->written ? "true" : "false") << ", \"extent\": " << (it == asked().end() ? -1 : it->second);
}
inline std::vector<Memory *> &touched() { static std::vector<Memory *> t; return t; }
template <class T> void show(std::ostream &o, const T &v) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    constexpr bool constant = std::is_const_v<std::remove_pointer_t<T>>;
    pointer(o, const_cast<const void *>(static_cast<const volatile void *>(v)), constant);
    if (Memory *m = find(const_cast<const void *>(static_cast<const volatile void *>(v)))) if (!constant) touched().push_back(m);
  } else if constexpr (std::is_arithmetic_v<T>) scalar(o, v);
  else Shown<T>::show(o, v);
}
// Made at the beginning of a kernel's body; ends with it.
struct Record {
  std::ostringstream out; bool first = true;
  Record(const char *kernel, std::vector<std::string> targs) {
    tick();
    Config c = config(); config().open = false;
    if (!c.open) throw Unsupported{"a kernel called without a launch"};
    out << "{\"kernel\": " << quoted(kernel) << ", \"line\": " << c.line << ", \"file\": " << quoted(c.file) << ", \"grid\": [" << c.grid.x << ", " << c.grid.y << ", " << c.grid.z << "], \"block\": [" << c.block.x << ", " << c.block.y << ", " << c.block.z
        << "], \"shared\": " << c.shared << ", \"targs\": [";
    for (size_t i = 0; i < targs.size(); ++i) out << (i ? ", " : "") << quoted(targs[i]);
    out << "], \"args\": {";
    touched().clear();
  }
  template <class T> Record &arg(const char *name, const T &v) { out << (first ? "" : ", ") << quoted(name) << ": {"; show(out, v); out << "}"; first = false; return *this; }
  void done() {
    out << "}}";
    vk::out() << "L " << out.str() << "\n";
    for (Memory *m : touched()) { m->written = true; m->zero = false; }
    if (++launches() >= 48) throw Enough{};
  }
};
template <class... P, size_t... I> void unpack(void (*f)(P...), void **args, std::index_sequence<I...>) { f(*static_cast<std::remove_reference_t<P> *>(args[I])...); }
}
template <class... P> cudaError_t cudaLaunchKernel(void (*f)(P...), dim3 g, dim3 b, void **args, size_t s = 0, cudaStream_t st = nullptr, int line = __builtin_LINE(), const char *file = __builtin_FILE()) {
  vk::configure(line, file, g, b, s, st); vk::unpack(f, args, std::index_sequence_for<P...>{}); return cudaSuccess;
}
inline cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = nullptr) { throw vk::Unsupported{"cudaLaunchKernel of an address"}; }
template <class... A> cudaError_t cudaLaunchCooperativeKernel(A... a) { return cudaLaunchKernel(a...); }
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS }; struct cublasContext; typedef cublasContext *cublasHandle_t; struct cublasLtContext; typedef cublasLtContext *cublasLtHandle_t;
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_TENSOR_OP_MATH }; enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasComputeType_t { CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_64F }; enum cudaDataType_t { CUDA_R_16F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_64F }; typedef cudaDataType_t cudaDataType; enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
template <class... A> cublasStatus_t cublasCreate(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasDestroy(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasSetMathMode(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasLtCreate(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasLtDestroy(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasSetStream(A...) { return CUBLAS_STATUS_SUCCESS; }
template <class... A> cublasStatus_t cublasSgemm(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasSgemv(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasGemmEx(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasSgemmStridedBatched(A...) { return CUBLAS_STATUS_SUCCESS; } template <class... A> cublasStatus_t cublasGemmStridedBatchedEx(A...) { return CUBLAS_STATUS_SUCCESS; }
inline cudaError_t cudaMemcpy2D(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, cudaMemcpyKind) { vk::Memory *m = vk::find(d); if (m) { m->zero = false; m->initialised = true; } else if (!vk::find(s)) for (size_t i = 0; i < h; ++i) std::memcpy((char *)d + i * dp, (const char *)s + i * sp, w); return cudaSuccess; }
