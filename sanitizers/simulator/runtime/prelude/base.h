// Vector types, dim3, the launch variables, and what the rewritten text calls for its shared and device variables.
#pragma once

#define SIMT_INLINE inline __attribute__((always_inline))

typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

#define SIMT_VECTOR(NAME, T, A1, A2, A3, A4)                                                                   \
    struct __attribute__((aligned(A1))) NAME##1 { T x; };                                                      \
    struct __attribute__((aligned(A2))) NAME##2 { T x, y; };                                                   \
    struct __attribute__((aligned(A3))) NAME##3 { T x, y, z; };                                                \
    struct __attribute__((aligned(A4))) NAME##4 { T x, y, z, w; };                                             \
    SIMT_INLINE constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                                          \
    SIMT_INLINE constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                                  \
    SIMT_INLINE constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                          \
    SIMT_INLINE constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIMT_VECTOR(char, signed char, 1, 2, 1, 4)
SIMT_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
SIMT_VECTOR(short, short, 2, 4, 2, 8)
SIMT_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
SIMT_VECTOR(int, int, 4, 8, 4, 16)
SIMT_VECTOR(uint, unsigned int, 4, 8, 4, 16)
SIMT_VECTOR(long, long, 8, 16, 8, 16)
SIMT_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
SIMT_VECTOR(longlong, long long, 8, 16, 8, 16)
SIMT_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
SIMT_VECTOR(float, float, 4, 8, 4, 16)
SIMT_VECTOR(double, double, 8, 16, 8, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// One value a thread for the whole of its life, so reading them is no memory access and may be merged.
extern "C" {
extern const uint3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;
}

#define SIMT_PLACED(NAME) static const simt::Placed NAME __attribute__((used, section("simt_objects")))

namespace simt {
template <class T>
struct same {
    using type = T;
};
template <class T>
using same_t = typename same<T>::type;

// The granule of the shadow is the innermost element.
template <class T>
constexpr size_t element_of() {
    using Element = std::remove_all_extents_t<T>;
    return sizeof(Element) % 4 == 0 && sizeof(Element) > 16 ? 4 : sizeof(Element);
}
template <class T>
T& shared_object(Declaration& declaration, const char* name) {
    return *static_cast<T*>(simt_shared(&declaration, sizeof(T), element_of<T>(), name));
}
template <class T>
T& dynamic_shared_object(const char* name) {
    return *static_cast<T*>(simt_dynamic_shared(element_of<T>(), name));
}
template <class T>
using variable_t = std::remove_const_t<T>;

template <class T>
SIMT_INLINE uint64_t bits_of(T value) {
    static_assert(sizeof(T) <= 8, "a value of at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
SIMT_INLINE T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
}
}  // namespace simt

SIMT_INLINE void __syncthreads(simt::Site site = SIMT_HERE) { simt_barrier(site); }
SIMT_INLINE int __syncthreads_count(int p, simt::Site site = SIMT_HERE) {
    return simt_barrier_reduce(p, simt::REDUCE_COUNT, site);
}
SIMT_INLINE int __syncthreads_and(int p, simt::Site site = SIMT_HERE) {
    return simt_barrier_reduce(p, simt::REDUCE_AND, site);
}
SIMT_INLINE int __syncthreads_or(int p, simt::Site site = SIMT_HERE) {
    return simt_barrier_reduce(p, simt::REDUCE_OR, site);
}
SIMT_INLINE void __threadfence() { simt_fence(simt::DEVICE_SCOPE); }
SIMT_INLINE void __threadfence_block() { simt_fence(simt::BLOCK_SCOPE); }
SIMT_INLINE void __threadfence_system() { simt_fence(simt::SYSTEM_SCOPE); }
SIMT_INLINE void __trap(simt::Site site = SIMT_HERE) { simt_trap(site); }
SIMT_INLINE void __brkpt(simt::Site site = SIMT_HERE) { simt_trap(site); }
SIMT_INLINE void __nanosleep(unsigned) {}
SIMT_INLINE long long clock64() { return (long long)simt_clock(); }
SIMT_INLINE long clock() { return (long)simt_clock(); }

namespace simt {
// Device printf: its arguments are read, its output is dropped.
template <class... A>
SIMT_INLINE int print(const char*, A...) {
    return int(sizeof...(A));
}
}  // namespace simt

namespace simt {
template <auto KERNEL, class... P, size_t... I>
SIMT_INLINE void invoke(void (*)(P...), void* const* arguments, std::index_sequence<I...>) {
    KERNEL(*static_cast<std::remove_cv_t<P>*>(arguments[I])...);
}
template <auto KERNEL, class... P>
SIMT_INLINE void invoke(void (*kernel)(P...), void* const* arguments) {
    invoke<KERNEL>(kernel, arguments, std::index_sequence_for<P...>());
}
}  // namespace simt
