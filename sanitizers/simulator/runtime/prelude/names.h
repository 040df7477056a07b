// Last: the names that the text itself must not find in the headers above, as macros.
#pragma once
#define threadIdx simt_threadIdx
#define blockIdx simt_blockIdx
#define blockDim simt_blockDim
#define gridDim simt_gridDim
#define warpSize 32

#define __global__
#define __device__
#define __host__
#define __forceinline__
#define __inline__
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __host_device__
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_LAUNCH_BOUNDS_1(a)
#define C10_LAUNCH_BOUNDS_2(a, b)
// A promise of the program, not a fact: with it the compiler would reorder the very accesses that are to be watched.
#define __restrict__
#define __restrict

#undef assert
#define assert(...) ((__VA_ARGS__) ? (void)0 : simt_assert_failed(#__VA_ARGS__, SIMT_HERE))
#define __assert_fail(text, file, line, function) simt_assert_failed(text, SIMT_HERE)
#undef printf
#define printf(...) simt::print(__VA_ARGS__)
#undef memcpy
#undef memset
#undef memmove
#define memcpy simt_memcpy
#define memmove simt_memcpy
#define memset simt_memset
#define __builtin_memcpy simt_memcpy
#define __builtin_memmove simt_memcpy
#define __builtin_memset simt_memset
#define __builtin_assume(...) ((void)0)
