// What a launch was given, for nvcc and the real libraries (see benchmarks/launch_recorder.py): one JSON text a launch.
// No streams of the standard library: where it is linked in statically, they find another copy's locale and crash.
// Sizes of memory come from the driver, so caching allocators must be off (PYTORCH_NO_CUDA_MEMORY_CACHING=1).
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>
#include <cxxabi.h>
#include <cmath>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>
namespace vk {
struct Config { int line; dim3 grid, block; size_t shared; };
inline Config &config() { static Config c; return c; }
inline std::vector<std::string> &records() { static std::vector<std::string> r; return r; }
inline std::vector<std::string> take() { auto r = records(); records().clear(); return r; }
inline void configure(int line, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) { config() = {line, grid, block, shared}; }
template <class T> std::string type_text() { int status; char *s = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status); std::string o = s ? s : "?"; std::free(s); return o; }
template <class T> std::string value_text(T v) {
  if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
  else if constexpr (std::is_enum_v<T>) return std::to_string(static_cast<long long>(v));
  else if constexpr (std::is_integral_v<T>) return std::to_string(v);
  else return "?";
}
typedef CUresult (*AddressRange)(CUdeviceptr *, size_t *, CUdeviceptr);
inline AddressRange address_range() {  // from the driver that is loaded: what is linked may be a stub
  void *found = nullptr; cudaDriverEntryPointQueryResult status;
  if (cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &found, 12000, cudaEnableDefault, &status) != cudaSuccess) found = nullptr;
  return reinterpret_cast<AddressRange>(found);
}
inline void pointer(std::string &o, const void *p, bool constant) {
  static AddressRange range = address_range();
  CUdeviceptr base = 0; size_t size = 0;
  CUdeviceptr address = reinterpret_cast<CUdeviceptr>(p);
  bool known = p && range && range(&base, &size, address) == CUDA_SUCCESS;
  o += "\"kind\": \"pointer\", \"address\": " + std::to_string(address) + ", \"const\": " + (constant ? "true" : "false");
  if (known) o += ", \"memory\": " + std::to_string(base) + ", \"offset\": " + std::to_string(address - base) + ", \"bytes\": " + std::to_string(size);
  else o += ", \"memory\": null";
}
template <class T> struct Shown { static void show(std::string &o, const T &) { o += "\"kind\": \"other\""; } };
template <class T> void show(std::string &o, const T &v) {
  if constexpr (std::is_pointer_v<std::decay_t<T>> || std::is_convertible_v<T, const volatile void *>) {
    typedef std::remove_pointer_t<std::decay_t<decltype(+v)>> To;
    pointer(o, const_cast<const void *>(static_cast<const volatile void *>(v)), std::is_const_v<To>);
  } else if constexpr (std::is_same_v<T, bool>) o += std::string("\"kind\": \"int\", \"value\": ") + (v ? "1" : "0");
  else if constexpr (std::is_integral_v<T>) o += "\"kind\": \"int\", \"value\": " + std::to_string(v);
  else if constexpr (std::is_floating_point_v<T>) o += "\"kind\": \"float\", \"value\": " + (std::isfinite(double(v)) ? std::to_string(double(v)) : std::string("null"));
  else Shown<T>::show(o, v);
}
inline std::string triple(const char *name, dim3 v) { return std::string("\"") + name + "\": [" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "], "; }
struct Record {
  std::string out; bool first = true;
  Record(const char *kernel, std::vector<std::string> targs) {
    const Config &c = config();
    out = std::string("{\"kernel\": \"") + kernel + "\", \"line\": " + std::to_string(c.line) + ", " + triple("grid", c.grid) + triple("block", c.block);
    out += "\"shared\": " + std::to_string(c.shared) + ", \"targs\": [";
    for (size_t i = 0; i < targs.size(); ++i) out += (i ? ", \"" : "\"") + targs[i] + "\"";
    out += "], \"args\": {";
  }
  template <class T> Record &arg(const char *name, const T &v) { out += std::string(first ? "\"" : ", \"") + name + "\": {"; show(out, v); out += "}"; first = false; return *this; }
  void done() { records().push_back(out + "}}"); }
};
}
