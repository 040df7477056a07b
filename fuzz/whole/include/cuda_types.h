// The names of the CUDA headers that host code uses, without the functions; shared by everything that compiles host code.
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
// The bits are those of the real type, rounded to the nearest.
inline unsigned short vk_half_bits(float f) { _Float16 h = _Float16(f); unsigned short b; __builtin_memcpy(&b, &h, 2); return b; }
inline float vk_half_value(unsigned short b) { _Float16 h; __builtin_memcpy(&h, &b, 2); return float(h); }
inline unsigned short vk_brain_bits(float f) { unsigned b; __builtin_memcpy(&b, &f, 4); if (f != f) return 0x7fc0; return (unsigned short)((b + 0x7fff + ((b >> 16) & 1)) >> 16); }
inline float vk_brain_value(unsigned short b) { unsigned w = unsigned(b) << 16; float f; __builtin_memcpy(&f, &w, 4); return f; }
#define VK_SMALL(N, KIND) struct N { unsigned short bits = 0; N() = default; template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> N(T v) : bits(vk_##KIND##_bits(float(v))) {} operator float() const { return vk_##KIND##_value(bits); } };
VK_SMALL(__half, half) VK_SMALL(__nv_bfloat16, brain)
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
