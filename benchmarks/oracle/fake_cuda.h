// The CUDA runtime for host code that is really run: memory has addresses and sizes but no bytes, and a launch is
// written down instead of made. One line of JSON a launch goes to standard output (see benchmarks/contract_oracle.py).
#pragma once
#include "cuda_types.h"

namespace vk {
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
// Addresses that were asked of a tensor that is not contiguous.
inline std::set<uint64_t> &loose() { static std::set<uint64_t> s; return s; }
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
inline void reset() { live().clear(); asked().clear(); loose().clear(); next_address() = uint64_t(1) << 44; next_id() = 0; deadline() = std::chrono::steady_clock::now() + std::chrono::milliseconds(400); }
}

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
    << ", \"zero\": " << (m->zero ? "true" : "false") << ", \"written\": " << (m->written ? "true" : "false") << ", \"contiguous\": " << (loose().count(a) ? "false" : "true") << ", \"extent\": " << (it == asked().end() ? -1 : it->second);
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
