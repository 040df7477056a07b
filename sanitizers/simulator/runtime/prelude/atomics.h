// Atomics: the runtime checks, hands out the old bits and takes the new ones; what happens between is one step.
#pragma once
namespace simt {
template <class T, class... U>
constexpr bool one_of = (std::is_same_v<T, U> || ...);
template <class T>
constexpr bool word = one_of<T, int, unsigned, unsigned long long, unsigned long>;
template <class T>
constexpr bool wide = word<T> || one_of<T, long long, long>;

template <int SCOPE, class T, class F>
SIMT_INLINE T atomically(T* p, Site site, F next) {
    T old = from_bits<T>(simt_atomic_begin(p, sizeof(T), SCOPE, site));
    simt_atomic_end(p, sizeof(T), bits_of<T>(next(old)));
    return old;
}
template <class T>
SIMT_INLINE T plus(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    } else {
        return a + b;
    }
}
}  // namespace simt

#define SIMT_ATOMIC(NAME, ALLOWED, NEXT)                                                                       \
    SIMT_ATOMIC_IN(NAME, simt::DEVICE_SCOPE, ALLOWED, NEXT)                                                    \
    SIMT_ATOMIC_IN(NAME##_block, simt::BLOCK_SCOPE, ALLOWED, NEXT)                                             \
    SIMT_ATOMIC_IN(NAME##_system, simt::SYSTEM_SCOPE, ALLOWED, NEXT)
#define SIMT_ATOMIC_IN(NAME, SCOPE, ALLOWED, NEXT)                                                             \
    template <class T>                                                                                         \
    SIMT_INLINE T NAME(T* p, simt::same_t<T> v, simt::Site site = SIMT_HERE) {                                 \
        static_assert(ALLOWED, #NAME " has no such type");                                                     \
        return simt::atomically<SCOPE>(p, site, [=](T old) -> T { return NEXT; });                             \
    }
SIMT_ATOMIC(atomicAdd, (simt::word<T> || simt::one_of<T, float, double, __half, __half2, __nv_bfloat16, __nv_bfloat162>),
            simt::plus(old, v))
SIMT_ATOMIC(atomicSub, (simt::one_of<T, int, unsigned>), simt::plus(old, T(0u - unsigned(v))))
SIMT_ATOMIC(atomicExch, (simt::word<T> || simt::one_of<T, float>), (void(old), v))
SIMT_ATOMIC(atomicMin, (simt::wide<T>), v < old ? v : old)
SIMT_ATOMIC(atomicMax, (simt::wide<T>), old < v ? v : old)
SIMT_ATOMIC(atomicAnd, (simt::wide<T>), old& v)
SIMT_ATOMIC(atomicOr, (simt::wide<T>), old | v)
SIMT_ATOMIC(atomicXor, (simt::wide<T>), old ^ v)
SIMT_ATOMIC(atomicInc, (simt::one_of<T, unsigned>), old >= v ? 0u : old + 1u)
SIMT_ATOMIC(atomicDec, (simt::one_of<T, unsigned>), old == 0u || old > v ? v : old - 1u)
#define SIMT_CAS(NAME, SCOPE)                                                                                  \
    template <class T>                                                                                         \
    SIMT_INLINE T NAME(T* p, simt::same_t<T> compare, simt::same_t<T> v, simt::Site site = SIMT_HERE) {        \
        static_assert(simt::word<T> || simt::one_of<T, unsigned short>, #NAME " has no such type");            \
        return simt::atomically<SCOPE>(p, site, [=](T old) -> T { return old == compare ? v : old; });         \
    }
SIMT_CAS(atomicCAS, simt::DEVICE_SCOPE)
SIMT_CAS(atomicCAS_block, simt::BLOCK_SCOPE)
SIMT_CAS(atomicCAS_system, simt::SYSTEM_SCOPE)
