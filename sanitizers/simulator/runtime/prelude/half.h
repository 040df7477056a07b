// 16-bit floats: __half and __nv_bfloat16, their pairs, and PyTorch's at::Half and at::BFloat16. Arithmetic is done in
// float and rounded to nearest even, which equals the hardware's result for + - * / and sqrt.
#pragma once

namespace simt {
inline uint16_t half_from_float(float value) {
    uint32_t x = uint32_t(bits_of(value)), sign = x >> 16 & 0x8000u;
    x &= 0x7fffffffu;
    if (x > 0x7f800000u) {
        return uint16_t(0x7fffu);
    }
    if (x >= 0x477ff000u) {
        return uint16_t(sign | 0x7c00u);
    }
    if (x < 0x38800000u) {  // subnormal: scale so that the float unit does the rounding
        float scaled = from_bits<float>(x) + 0.5f;
        return uint16_t(sign | (uint32_t(bits_of(scaled)) - 0x3f000000u));
    }
    uint32_t odd = x >> 13 & 1u;
    return uint16_t(sign | ((x + 0xc8000fffu + odd) >> 13 & 0x7fffu));
}
inline float float_from_half(uint16_t h) {
    uint32_t sign = uint32_t(h & 0x8000u) << 16, rest = h & 0x7fffu;
    if (rest >= 0x7c00u) {
        return from_bits<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    }
    if (rest < 0x400u) {
        float value = float(rest) * 5.9604644775390625e-8f;
        return sign ? -value : value;
    }
    return from_bits<float>(sign | ((rest << 13) + 0x38000000u));
}
inline uint16_t bfloat_from_float(float value) {
    uint32_t x = uint32_t(bits_of(value));
    if ((x & 0x7fffffffu) > 0x7f800000u) {
        return uint16_t(0x7fffu);
    }
    return uint16_t((x + 0x7fffu + (x >> 16 & 1u)) >> 16);
}
inline float float_from_bfloat(uint16_t b) { return from_bits<float>(uint32_t(b) << 16); }
template <class T>
using number = std::enable_if_t<std::is_arithmetic_v<T>, int>;
}  // namespace simt

#define SIMT_SMALL_FLOAT(NAME, PACK, UNPACK)                                                                   \
    struct __attribute__((aligned(2))) NAME {                                                                  \
        unsigned short __x;                                                                                    \
        NAME() = default;                                                                                      \
        template <class T, simt::number<T> = 0>                                                                \
        NAME(T value) : __x(simt::PACK(float(value))) {}                                                       \
        operator float() const { return simt::UNPACK(__x); }                                                   \
        template <class T, simt::number<T> = 0>                                                                \
        NAME& operator=(T value) {                                                                             \
            __x = simt::PACK(float(value));                                                                    \
            return *this;                                                                                      \
        }                                                                                                      \
        static NAME of_bits(unsigned short bits) {                                                             \
            NAME value;                                                                                        \
            value.__x = bits;                                                                                  \
            return value;                                                                                      \
        }                                                                                                      \
    };                                                                                                         \
    SIMT_SMALL_OPERATOR(NAME, +)                                                                               \
    SIMT_SMALL_OPERATOR(NAME, -)                                                                               \
    SIMT_SMALL_OPERATOR(NAME, *)                                                                               \
    SIMT_SMALL_OPERATOR(NAME, /)                                                                               \
    SIMT_SMALL_COMPARE(NAME, ==)                                                                               \
    SIMT_SMALL_COMPARE(NAME, !=)                                                                               \
    SIMT_SMALL_COMPARE(NAME, <)                                                                                \
    SIMT_SMALL_COMPARE(NAME, >)                                                                                \
    SIMT_SMALL_COMPARE(NAME, <=)                                                                               \
    SIMT_SMALL_COMPARE(NAME, >=)                                                                               \
    SIMT_INLINE NAME operator-(const NAME& a) { return NAME::of_bits((unsigned short)(a.__x ^ 0x8000u)); }     \
    SIMT_INLINE NAME operator+(const NAME& a) { return a; }
#define SIMT_SMALL_OPERATOR(NAME, OP)                                                                          \
    SIMT_INLINE NAME operator OP(const NAME& a, const NAME& b) { return NAME(float(a) OP float(b)); }          \
    SIMT_INLINE NAME& operator OP##=(NAME& a, const NAME& b) {                                                 \
        a = NAME(float(a) OP float(b));                                                                        \
        return a;                                                                                              \
    }                                                                                                          \
    SIMT_INLINE float operator OP(const NAME& a, float b) { return float(a) OP b; }                            \
    SIMT_INLINE float operator OP(float a, const NAME& b) { return a OP float(b); }                            \
    SIMT_INLINE double operator OP(const NAME& a, double b) { return double(float(a)) OP b; }                  \
    SIMT_INLINE double operator OP(double a, const NAME& b) { return a OP double(float(b)); }                  \
    SIMT_INLINE NAME operator OP(const NAME& a, int b) { return NAME(float(a) OP float(b)); }                  \
    SIMT_INLINE NAME operator OP(int a, const NAME& b) { return NAME(float(a) OP float(b)); }
#define SIMT_SMALL_COMPARE(NAME, OP)                                                                           \
    SIMT_INLINE bool operator OP(const NAME& a, const NAME& b) { return float(a) OP float(b); }                \
    SIMT_INLINE bool operator OP(const NAME& a, float b) { return float(a) OP b; }                             \
    SIMT_INLINE bool operator OP(float a, const NAME& b) { return a OP float(b); }                             \
    SIMT_INLINE bool operator OP(const NAME& a, int b) { return float(a) OP float(b); }
SIMT_SMALL_FLOAT(__half, half_from_float, float_from_half)
SIMT_SMALL_FLOAT(__nv_bfloat16, bfloat_from_float, float_from_bfloat)

#define SIMT_PAIR(NAME, T)                                                                                     \
    struct __attribute__((aligned(4))) NAME {                                                                  \
        T x, y;                                                                                                \
        NAME() = default;                                                                                      \
        NAME(const T& a, const T& b) : x(a), y(b) {}                                                           \
    };                                                                                                         \
    SIMT_PAIR_OPERATOR(NAME, +)                                                                                \
    SIMT_PAIR_OPERATOR(NAME, -)                                                                                \
    SIMT_PAIR_OPERATOR(NAME, *)                                                                                \
    SIMT_PAIR_OPERATOR(NAME, /)                                                                                \
    SIMT_INLINE NAME operator-(const NAME& a) { return NAME(-a.x, -a.y); }
#define SIMT_PAIR_OPERATOR(NAME, OP)                                                                           \
    SIMT_INLINE NAME operator OP(const NAME& a, const NAME& b) { return NAME(a.x OP b.x, a.y OP b.y); }        \
    SIMT_INLINE NAME& operator OP##=(NAME& a, const NAME& b) {                                                 \
        a = a OP b;                                                                                            \
        return a;                                                                                              \
    }
SIMT_PAIR(__half2, __half)
SIMT_PAIR(__nv_bfloat162, __nv_bfloat16)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
struct __half_raw {
    unsigned short x;
};

// Functions that exist for both scalars (T) and their pairs (V).
#define SIMT_SMALL_FUNCTIONS(T, V)                                                                             \
    SIMT_SMALL_ARITHMETIC(T, V, add, +)                                                                        \
    SIMT_SMALL_ARITHMETIC(T, V, sub, -)                                                                        \
    SIMT_SMALL_ARITHMETIC(T, V, mul, *)                                                                        \
    SIMT_SMALL_ARITHMETIC(T, V, div, /)                                                                        \
    SIMT_SMALL_RELATION(T, V, eq, ==)                                                                          \
    SIMT_SMALL_RELATION(T, V, ne, !=)                                                                          \
    SIMT_SMALL_RELATION(T, V, lt, <)                                                                           \
    SIMT_SMALL_RELATION(T, V, le, <=)                                                                          \
    SIMT_SMALL_RELATION(T, V, gt, >)                                                                           \
    SIMT_SMALL_RELATION(T, V, ge, >=)                                                                          \
    SIMT_INLINE T __hfma(T a, T b, T c) { return T(fma(double(float(a)), double(float(b)), double(float(c)))); } \
    SIMT_INLINE V __hfma2(V a, V b, V c) { return V(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }           \
    SIMT_INLINE T __hfma_relu(T a, T b, T c) { return T(fmaxf(float(__hfma(a, b, c)), 0.0f)); }                \
    SIMT_INLINE T __hmax(T a, T b) { return T(fmaxf(float(a), float(b))); }                                    \
    SIMT_INLINE T __hmin(T a, T b) { return T(fminf(float(a), float(b))); }                                    \
    SIMT_INLINE T __hmax_nan(T a, T b) { return float(a) != float(a) ? a : float(b) != float(b) ? b : __hmax(a, b); } \
    SIMT_INLINE T __hmin_nan(T a, T b) { return float(a) != float(a) ? a : float(b) != float(b) ? b : __hmin(a, b); } \
    SIMT_INLINE V __hmax2(V a, V b) { return V(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                          \
    SIMT_INLINE V __hmin2(V a, V b) { return V(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                          \
    SIMT_INLINE V __hmax2_nan(V a, V b) { return V(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }              \
    SIMT_INLINE V __hmin2_nan(V a, V b) { return V(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }              \
    SIMT_INLINE T __hneg(T a) { return -a; }                                                                   \
    SIMT_INLINE V __hneg2(V a) { return -a; }                                                                  \
    SIMT_INLINE V __h2div(V a, V b) { return a / b; }                                                          \
    SIMT_INLINE T __habs(T a) { return T::of_bits((unsigned short)(a.__x & 0x7fffu)); }                        \
    SIMT_INLINE V __habs2(V a) { return V(__habs(a.x), __habs(a.y)); }                                         \
    SIMT_INLINE bool __hisnan(T a) { return float(a) != float(a); }                                            \
    SIMT_INLINE int __hisinf(T a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; }               \
    SIMT_SMALL_MATH(T, V, exp, expf(x))                                                                        \
    SIMT_SMALL_MATH(T, V, exp2, exp2f(x))                                                                      \
    SIMT_SMALL_MATH(T, V, exp10, simt_exp10f(x))                                                               \
    SIMT_SMALL_MATH(T, V, log, logf(x))                                                                        \
    SIMT_SMALL_MATH(T, V, log2, log2f(x))                                                                      \
    SIMT_SMALL_MATH(T, V, log10, log10f(x))                                                                    \
    SIMT_SMALL_MATH(T, V, sqrt, sqrtf(x))                                                                      \
    SIMT_SMALL_MATH(T, V, rsqrt, rsqrtf(x))                                                                    \
    SIMT_SMALL_MATH(T, V, rcp, 1.0f / x)                                                                       \
    SIMT_SMALL_MATH(T, V, sin, sinf(x))                                                                        \
    SIMT_SMALL_MATH(T, V, cos, cosf(x))                                                                        \
    SIMT_SMALL_MATH(T, V, tanh, tanhf(x))                                                                      \
    SIMT_SMALL_MATH(T, V, floor, floorf(x))                                                                    \
    SIMT_SMALL_MATH(T, V, ceil, ceilf(x))                                                                      \
    SIMT_SMALL_MATH(T, V, rint, rintf(x))                                                                      \
    SIMT_SMALL_MATH(T, V, trunc, truncf(x))                                                                    \
    SIMT_INLINE float __low2float(V v) { return float(v.x); }                                                  \
    SIMT_INLINE float __high2float(V v) { return float(v.y); }                                                 \
    SIMT_INLINE V __lowhigh2highlow(V v) { return V(v.y, v.x); }                                               \
    SIMT_INLINE V __lows2##V(V a, V b) { return V(a.x, b.x); }                                                 \
    SIMT_INLINE V __highs2##V(V a, V b) { return V(a.y, b.y); }
#define SIMT_SMALL_ARITHMETIC(T, V, NAME, OP)                                                                  \
    SIMT_INLINE T __h##NAME(T a, T b) { return a OP b; }                                                       \
    SIMT_INLINE T __h##NAME##_rn(T a, T b) { return a OP b; }                                                  \
    SIMT_INLINE T __h##NAME##_sat(T a, T b) { return T(__saturatef(float(a OP b))); }                          \
    SIMT_INLINE V __h##NAME##2(V a, V b) { return a OP b; }                                                    \
    SIMT_INLINE V __h##NAME##2_rn(V a, V b) { return a OP b; }
#define SIMT_SMALL_RELATION(T, V, NAME, OP)                                                                    \
    SIMT_INLINE bool __h##NAME(T a, T b) { return a OP b; }                                                    \
    SIMT_INLINE V __h##NAME##2(V a, V b) { return V(T(a.x OP b.x ? 1 : 0), T(a.y OP b.y ? 1 : 0)); }           \
    SIMT_INLINE bool __hb##NAME##2(V a, V b) { return a.x OP b.x && a.y OP b.y; }
#define SIMT_SMALL_MATH(T, V, NAME, E)                                                                         \
    SIMT_INLINE T h##NAME(T a) {                                                                               \
        float x = float(a);                                                                                    \
        return T(E);                                                                                           \
    }                                                                                                          \
    SIMT_INLINE V h2##NAME(V a) { return V(h##NAME(a.x), h##NAME(a.y)); }
SIMT_SMALL_FUNCTIONS(__half, __half2)
SIMT_SMALL_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)

#define SIMT_SMALL_CONVERT(T, SHORT, LONG)                                                                     \
    SIMT_INLINE float __##SHORT##2float(T a) { return float(a); }                                              \
    SIMT_INLINE T __float2##SHORT(float a) { return T(a); }                                                    \
    SIMT_INLINE T __float2##SHORT##_rn(float a) { return T(a); }                                               \
    SIMT_INLINE T __double2##SHORT(double a) { return T(a); }                                                  \
    SIMT_INLINE unsigned short __##LONG##_as_ushort(T a) { return a.__x; }                                     \
    SIMT_INLINE short __##LONG##_as_short(T a) { return short(a.__x); }                                        \
    SIMT_INLINE T __ushort_as_##LONG(unsigned short a) { return T::of_bits(a); }                               \
    SIMT_INLINE T __short_as_##LONG(short a) { return T::of_bits((unsigned short)a); }                         \
    SIMT_SMALL_INTEGERS(T, SHORT, rn)                                                                          \
    SIMT_SMALL_INTEGERS(T, SHORT, rz)                                                                          \
    SIMT_SMALL_INTEGERS(T, SHORT, ru)                                                                          \
    SIMT_SMALL_INTEGERS(T, SHORT, rd)
#define SIMT_SMALL_INTEGERS(T, SHORT, R)                                                                       \
    SIMT_INLINE int __##SHORT##2int_##R(T a) { return __float2int_##R(float(a)); }                             \
    SIMT_INLINE unsigned __##SHORT##2uint_##R(T a) { return __float2uint_##R(float(a)); }                      \
    SIMT_INLINE long long __##SHORT##2ll_##R(T a) { return __float2ll_##R(float(a)); }                         \
    SIMT_INLINE unsigned long long __##SHORT##2ull_##R(T a) { return __float2ull_##R(float(a)); }              \
    SIMT_INLINE short __##SHORT##2short_##R(T a) { return short(__float2int_##R(float(a))); }                  \
    SIMT_INLINE unsigned short __##SHORT##2ushort_##R(T a) { return (unsigned short)__float2uint_##R(float(a)); } \
    SIMT_INLINE T __int2##SHORT##_##R(int a) { return T(a); }                                                  \
    SIMT_INLINE T __uint2##SHORT##_##R(unsigned a) { return T(a); }                                            \
    SIMT_INLINE T __ll2##SHORT##_##R(long long a) { return T(a); }                                             \
    SIMT_INLINE T __ull2##SHORT##_##R(unsigned long long a) { return T(a); }                                   \
    SIMT_INLINE T __short2##SHORT##_##R(short a) { return T(a); }                                              \
    SIMT_INLINE T __ushort2##SHORT##_##R(unsigned short a) { return T(a); }
SIMT_SMALL_CONVERT(__half, half, half)
SIMT_SMALL_CONVERT(__nv_bfloat16, bfloat16, bfloat16)

SIMT_INLINE __half2 __float2half2_rn(float a) { return __half2(a, a); }
SIMT_INLINE __half2 __floats2half2_rn(float a, float b) { return __half2(a, b); }
SIMT_INLINE __half2 __float22half2_rn(float2 a) { return __half2(a.x, a.y); }
SIMT_INLINE float2 __half22float2(__half2 a) { return make_float2(float(a.x), float(a.y)); }
SIMT_INLINE __half __low2half(__half2 a) { return a.x; }
SIMT_INLINE __half __high2half(__half2 a) { return a.y; }
SIMT_INLINE __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
SIMT_INLINE __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
SIMT_INLINE __half2 __half2half2(__half a) { return __half2(a, a); }
SIMT_INLINE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
SIMT_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
SIMT_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
SIMT_INLINE __half2 make_half2(__half a, __half b) { return __half2(a, b); }
SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float a) { return __nv_bfloat162(a, a); }
SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(a, b); }
SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __nv_bfloat162(a.x, a.y); }
SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(float(a.x), float(a.y)); }
SIMT_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
SIMT_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
SIMT_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
SIMT_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIMT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }

namespace simt_c10 {
#define SIMT_TENSOR_FLOAT(NAME, NATIVE, PACK, UNPACK)                                                          \
    struct __attribute__((aligned(2))) NAME {                                                                  \
        unsigned short x;                                                                                      \
        NAME() = default;                                                                                      \
        template <class T, simt::number<T> = 0>                                                                \
        NAME(T value) : x(simt::PACK(float(value))) {}                                                         \
        NAME(const NATIVE& value) : x(value.__x) {}                                                            \
        operator float() const { return simt::UNPACK(x); }                                                     \
        operator NATIVE() const { return NATIVE::of_bits(x); }                                                 \
    };                                                                                                         \
    SIMT_SMALL_OPERATOR(NAME, +)                                                                               \
    SIMT_SMALL_OPERATOR(NAME, -)                                                                               \
    SIMT_SMALL_OPERATOR(NAME, *)                                                                               \
    SIMT_SMALL_OPERATOR(NAME, /)                                                                               \
    SIMT_SMALL_COMPARE(NAME, ==)                                                                               \
    SIMT_SMALL_COMPARE(NAME, !=)                                                                               \
    SIMT_SMALL_COMPARE(NAME, <)                                                                                \
    SIMT_SMALL_COMPARE(NAME, >)                                                                                \
    SIMT_SMALL_COMPARE(NAME, <=)                                                                               \
    SIMT_SMALL_COMPARE(NAME, >=)                                                                               \
    SIMT_INLINE NAME operator-(const NAME& a) { return NAME(-float(a)); }
SIMT_TENSOR_FLOAT(Half, __half, half_from_float, float_from_half)
SIMT_TENSOR_FLOAT(BFloat16, __nv_bfloat16, bfloat_from_float, float_from_bfloat)
}  // namespace simt_c10
namespace simt_at {
using simt_c10::BFloat16;
using simt_c10::Half;
}  // namespace simt_at
namespace simt_torch {
using simt_c10::BFloat16;
using simt_c10::Half;
}  // namespace simt_torch
