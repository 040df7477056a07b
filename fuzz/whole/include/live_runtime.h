// The CUDA runtime for live.h: memory is real, a launch goes to Python; and what Python calls: vk_setup, vk_names, vk_run.
#pragma once
struct cudaDeviceProp {
  char name[256] = "stand-in"; size_t totalGlobalMem = size_t(16) << 30, sharedMemPerBlock = 49152, sharedMemPerMultiprocessor = 102400, sharedMemPerBlockOptin = 101376;
  int regsPerBlock = 65536, warpSize = 32, maxThreadsPerBlock = 1024, maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {2147483647, 65535, 65535};
  int clockRate = 1000, major = 8, minor = 0, multiProcessorCount = 4, maxThreadsPerMultiProcessor = 2048, memoryClockRate = 1000, memoryBusWidth = 4096, l2CacheSize = 1 << 20;
};
template <class T> cudaError_t cudaMalloc(T **p, size_t n) { *p = static_cast<T *>(vk::grab(n)); return cudaSuccess; }
template <class T> cudaError_t cudaMallocAsync(T **p, size_t n, cudaStream_t) { return cudaMalloc(p, n); }
template <class T> cudaError_t cudaMallocHost(T **p, size_t n, unsigned = 0) { *p = static_cast<T *>(std::calloc(1, n)); return cudaSuccess; }
inline cudaError_t cudaFree(void *) { return cudaSuccess; } inline cudaError_t cudaFreeAsync(void *, cudaStream_t) { return cudaSuccess; } inline cudaError_t cudaFreeHost(void *p) { std::free(p); return cudaSuccess; }
inline cudaError_t cudaMemcpy(void *d, const void *s, size_t n, cudaMemcpyKind) { std::memmove(d, s, n); return cudaSuccess; } inline cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, cudaMemcpyKind, cudaStream_t = nullptr) { std::memmove(d, s, n); return cudaSuccess; }
inline cudaError_t cudaMemset(void *p, int v, size_t n) { std::memset(p, v, n); return cudaSuccess; } inline cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t = nullptr) { std::memset(p, v, n); return cudaSuccess; }
template <class T> cudaError_t cudaMemcpyToSymbol(T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) { throw vk::Unsupported{"cudaMemcpyToSymbol"}; }
template <class T> cudaError_t cudaMemcpyFromSymbol(void *, T &, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) { throw vk::Unsupported{"cudaMemcpyFromSymbol"}; }
#define VK_FINE(NAME, ...) inline cudaError_t NAME(__VA_ARGS__) { return cudaSuccess; }
VK_FINE(cudaGetLastError) VK_FINE(cudaPeekAtLastError) VK_FINE(cudaDeviceSynchronize) VK_FINE(cudaStreamSynchronize, cudaStream_t) VK_FINE(cudaStreamDestroy, cudaStream_t)
VK_FINE(cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned = 0) VK_FINE(cudaEventRecord, cudaEvent_t, cudaStream_t = nullptr) VK_FINE(cudaEventSynchronize, cudaEvent_t) VK_FINE(cudaEventDestroy, cudaEvent_t) VK_FINE(cudaSetDevice, int)
inline const char *cudaGetErrorString(cudaError_t) { return ""; } inline const char *cudaGetErrorName(cudaError_t) { return ""; }
inline cudaError_t cudaStreamCreate(cudaStream_t *s) { *s = nullptr; return cudaSuccess; } inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { *s = nullptr; return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = nullptr; return cudaSuccess; } inline cudaError_t cudaEventElapsedTime(float *f, cudaEvent_t, cudaEvent_t) { *f = 1; return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *d) { *d = 0; return cudaSuccess; } inline cudaError_t cudaGetDeviceCount(int *d) { *d = 1; return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) { *p = cudaDeviceProp(); return cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int) {
  switch (a) { case cudaDevAttrMultiProcessorCount: *v = 4; break; case cudaDevAttrMaxThreadsPerBlock: *v = 1024; break; case cudaDevAttrWarpSize: *v = 32; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *v = 49152; break; case cudaDevAttrMaxThreadsPerMultiProcessor: *v = 2048; break; default: *v = 101376; }
  return cudaSuccess;
}
template <class F> cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) { return cudaSuccess; } template <class F> cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, F, int, size_t) { *n = 2; return cudaSuccess; }
template <class F> cudaError_t cudaOccupancyMaxPotentialBlockSize(int *g, int *b, F, size_t = 0, int = 0) { *g = 8; *b = 256; return cudaSuccess; }

namespace vk {
struct Config { dim3 grid, block; size_t shared = 0; int line = 0; bool open = false; };
inline Config &config() { static Config c; return c; }
inline void configure(int line, const char *, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) { config() = {grid, block, shared, line, true}; }
// Made at the beginning of a kernel's body; ends with it.
struct Record {
  std::ostringstream out; bool first = true;
  Record(const char *kernel, std::vector<std::string> targs) {
    Config c = config(); config().open = false;
    if (!c.open) throw Unsupported{"a kernel called without a launch"};
    out << "{\"launch\": " << quoted(kernel) << ", \"line\": " << c.line << ", \"grid\": [" << c.grid.x << ", " << c.grid.y << ", " << c.grid.z << "], \"block\": [" << c.block.x << ", " << c.block.y << ", " << c.block.z << "], \"shared\": " << c.shared << ", \"targs\": [";
    for (size_t i = 0; i < targs.size(); ++i) out << (i ? ", " : "") << quoted(targs[i]);
    out << "], \"args\": {";
  }
  template <class T> Record &arg(const char *name, const T &v) { static_assert(std::is_trivially_copyable_v<T>); out << (first ? "" : ", ") << quoted(name) << ": \"" << hex(v) << "\""; first = false; return *this; }
  void done() { ask(out.str() + "}}"); }
};
template <class... P, size_t... I> void unpack(void (*f)(P...), void **args, std::index_sequence<I...>) { f(*static_cast<std::remove_reference_t<P> *>(args[I])...); }

// --- what Python calls ---
struct Given { char kind = 'N'; at::Tensor tensor; long long whole = 0; double real = 0; std::string text; std::vector<Given> items; };
inline Given given(std::istream &in) {
  Given g; auto at = in.tellg(); std::string word; in >> word; g.kind = word.empty() ? 'N' : word[0];
  if (g.kind == 'T') { in.seekg(at); g.tensor = at::read_tensor(in); } else if (g.kind == 'I' || g.kind == 'B') { in >> g.whole; g.real = double(g.whole); } else if (g.kind == 'F') { in >> word; g.real = std::strtod(word.c_str(), nullptr); }
  else if (g.kind == 'S') { size_t n; in >> n; in.get(); g.text.resize(n); in.read(g.text.data(), long(n)); } else if (g.kind == 'L') { size_t n; in >> n; for (size_t i = 0; i < n; ++i) g.items.push_back(given(in)); }
  return g;
}
[[noreturn]] inline void unlike() { throw Refusal("incompatible function arguments"); }
template <class T> struct Read { static T get(const Given &g) {
  if constexpr (std::is_same_v<T, at::Tensor>) { if (g.kind != 'T') unlike(); return g.tensor; }
  else if constexpr (std::is_same_v<T, bool>) { if (g.kind != 'B') unlike(); return g.whole != 0; }
  else if constexpr (std::is_floating_point_v<T>) { if (g.kind != 'F' && g.kind != 'I' && g.kind != 'B') unlike(); return T(g.real); }
  else if constexpr (std::is_integral_v<T>) { if ((g.kind != 'I' && g.kind != 'B') || (long long)(T(g.whole)) != g.whole) unlike(); return T(g.whole); }
  else if constexpr (std::is_same_v<T, std::string>) { if (g.kind != 'S') unlike(); return g.text; }
  else if constexpr (std::is_same_v<T, c10::Scalar>) { if (g.kind == 'F') return c10::Scalar(g.real); if (g.kind != 'I') unlike(); return c10::Scalar(g.whole); }
  else throw Unsupported{"an argument of type " + type_text<T>()}; } };
template <class T> struct Read<std::optional<T>> { static std::optional<T> get(const Given &g) { if (g.kind == 'N') return std::nullopt; return Read<T>::get(g); } };
template <class T> struct Read<std::vector<T>> { static std::vector<T> get(const Given &g) { if (g.kind != 'L') unlike(); std::vector<T> o; for (const auto &i : g.items) o.push_back(Read<T>::get(i)); return o; } };
template <class T> struct Read<c10::ArrayRef<T>> { static c10::ArrayRef<T> get(const Given &g) { return Read<std::vector<T>>::get(g); } };
inline std::string told(const at::Tensor &t) { return Arg(t).text; } inline std::string told(bool v) { return v ? "true" : "false"; }
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>> std::string told(T v) { return Arg(v).text; }
template <class T> std::string told(const std::vector<T> &l) { std::string o = "["; for (const auto &v : l) o += (o.size() > 1 ? ", " : "") + told(v); return o + "]"; }
template <class... T> std::string told(const std::tuple<T...> &t) { std::string o = "{\"tuple\": ["; std::apply([&](const auto &...v) { size_t i = 0; ((o += (i++ ? ", " : "") + told(v)), ...); }, t); return o + "]}"; }
template <class A, class B> std::string told(const std::pair<A, B> &p) { return told(std::tuple<A, B>(p)); }
template <class T, size_t N> std::string told(const std::array<T, N> &a) { return told(std::vector<T>(a.begin(), a.end())); }
inline std::vector<std::pair<std::string, std::function<std::string(const std::vector<Given> &)>>> &bound() { static std::vector<std::pair<std::string, std::function<std::string(const std::vector<Given> &)>>> b; return b; }
template <class R, class... A, size_t... I> std::string enter(R (*f)(A...), const std::vector<Given> &g, std::index_sequence<I...>) {
  if (g.size() != sizeof...(A)) unlike();
  auto held = std::make_tuple(Read<std::decay_t<A>>::get(g[I])...);
  if constexpr (std::is_void_v<R>) { f(static_cast<A>(std::get<I>(held))...); return "null"; } else return told(f(static_cast<A>(std::get<I>(held))...));
}
template <class R, class... A> void bind(const char *name, R (*f)(A...)) { bound().push_back({name, [f](const std::vector<Given> &g) { return enter(f, g, std::index_sequence_for<A...>{}); }}); }
template <class F> void bind(const char *name, F) { bound().push_back({name, [](const std::vector<Given> &) -> std::string { throw Unsupported{"a binding that is no plain function"}; }}); }
}
template <class... P> cudaError_t cudaLaunchKernel(void (*f)(P...), dim3 g, dim3 b, void **args, size_t s = 0, cudaStream_t st = nullptr, int line = __builtin_LINE()) { vk::configure(line, "", g, b, s, st); vk::unpack(f, args, std::index_sequence_for<P...>{}); return cudaSuccess; }
void vk_bind_all();
extern "C" {
__attribute__((visibility("default"))) void vk_setup(vk::Hook h) { vk::hook() = h; vk_bind_all(); }
__attribute__((visibility("default"))) const char *vk_names() { static std::string o; o.clear(); for (const auto &b : vk::bound()) o += b.first + "\n"; return o.c_str(); }
// "V" and JSON, "E" and why the host code refuses, "U" and what is not supported here.
__attribute__((visibility("default"))) const char *vk_run(const char *name, const char *words) {
  static std::string answer;
  try {
    std::istringstream in(words); auto list = vk::given(in);
    for (const auto &b : vk::bound()) if (b.first == name) { answer = "V" + b.second(list.items); return answer.c_str(); }
    answer = "Eno such function";
  } catch (const vk::Unsupported &u) { answer = "U" + u.what; }
  catch (const std::exception &e) { answer = "E" + std::string(e.what()); }
  catch (...) { answer = "Ean exception"; }
  return answer.c_str();
}
}
