/* What the parser sees before the device text, part 1: attributes, integer names, helpers of the declarations.
   Declarations only: no function has a body here, so nothing has a meaning that the intrinsic table does not give it. */
#pragma once
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((annotate("launch_bounds " #__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __maxnreg__(...)
#define __cluster_dims__(...) __attribute__((annotate("cluster_dims")))
#define __host_device__ __attribute__((host)) __attribute__((device))
#define C10_HOST_DEVICE __attribute__((host)) __attribute__((device))
#define C10_DEVICE __attribute__((device))
#define C10_LAUNCH_BOUNDS_1(a) __launch_bounds__(a)
#define C10_LAUNCH_BOUNDS_2(a, b) __launch_bounds__(a, b)
#define VK_HD __attribute__((device))

typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long clock_t;
typedef long time_t;

namespace vk {
/* R for an integer type T, else nothing. */
template <class T, class R> struct if_integral {};
template <class R> struct if_integral<bool, R> { typedef R type; };
template <class R> struct if_integral<char, R> { typedef R type; };
template <class R> struct if_integral<signed char, R> { typedef R type; };
template <class R> struct if_integral<unsigned char, R> { typedef R type; };
template <class R> struct if_integral<short, R> { typedef R type; };
template <class R> struct if_integral<unsigned short, R> { typedef R type; };
template <class R> struct if_integral<int, R> { typedef R type; };
template <class R> struct if_integral<unsigned, R> { typedef R type; };
template <class R> struct if_integral<long, R> { typedef R type; };
template <class R> struct if_integral<unsigned long, R> { typedef R type; };
template <class R> struct if_integral<long long, R> { typedef R type; };
template <class R> struct if_integral<unsigned long long, R> { typedef R type; };
template <class T> struct arithmetic : if_integral<T, double> {};
template <> struct arithmetic<float> { typedef float type; };
template <> struct arithmetic<double> { typedef double type; };
template <class T, class U, class A = typename arithmetic<T>::type, class B = typename arithmetic<U>::type>
struct promoted { typedef double type; };
template <class T> struct same { typedef T type; };
}  // namespace vk
