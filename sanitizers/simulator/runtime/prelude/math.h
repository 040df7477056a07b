// Math under CUDA's names. float overloads without a suffix come from <cmath>; fast variants are the exact ones.
#pragma once
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

SIMT_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMT_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
SIMT_INLINE float rsqrt(float x) { return rsqrtf(x); }
SIMT_INLINE double rsqrt(int x) { return rsqrt(double(x)); }
SIMT_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMT_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMT_INLINE float simt_exp10f(float x) { return powf(10.0f, x); }
SIMT_INLINE double simt_exp10(double x) { return pow(10.0, x); }
#define exp10f simt_exp10f
#define exp10 simt_exp10
SIMT_INLINE double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
SIMT_INLINE double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
SIMT_INLINE float sinpif(float x) { return float(sinpi(double(x))); }
SIMT_INLINE float cospif(float x) { return float(cospi(double(x))); }
template <class T>
SIMT_INLINE void simt_sincos(simt::same_t<T> x, T* s, T* c) {
    T a = std::sin(x), b = std::cos(x);
    *s = a;
    *c = b;
}
#define sincosf(x, s, c) simt_sincos<float>(x, s, c)
#define sincos(x, s, c) simt_sincos(x, s, c)
#define __sincosf(x, s, c) simt_sincos<float>(x, s, c)
SIMT_INLINE void sincospif(float x, float* s, float* c) {
    float a = sinpif(x), b = cospif(x);
    *s = a;
    *c = b;
}
SIMT_INLINE void sincospi(double x, double* s, double* c) {
    double a = sinpi(x), b = cospi(x);
    *s = a;
    *c = b;
}
// libm writes through a pointer out of the watch's sight; these write in it.
template <class T>
SIMT_INLINE T simt_modf(T x, T* whole) {
    T part, rest = std::modf(x, &part);
    *whole = part;
    return rest;
}
template <class T>
SIMT_INLINE T simt_frexp(T x, int* exponent) {
    int power;
    T rest = std::frexp(x, &power);
    *exponent = power;
    return rest;
}
template <class T>
SIMT_INLINE T simt_remquo(T x, T y, int* quotient) {
    int bits;
    T rest = std::remquo(x, y, &bits);
    *quotient = bits;
    return rest;
}
namespace std {
using ::simt_frexp;
using ::simt_modf;
using ::simt_remquo;
}  // namespace std
#define modf simt_modf
#define modff simt_modf<float>
#define frexp simt_frexp
#define frexpf simt_frexp<float>
#define remquo simt_remquo
#define remquof simt_remquo<float>
SIMT_INLINE double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
SIMT_INLINE float normcdff(float x) { return float(normcdf(double(x))); }
SIMT_INLINE double erfcx(double x) { return exp(x * x) * erfc(x); }
SIMT_INLINE float erfcxf(float x) { return float(erfcx(double(x))); }
// Inverse error function: Giles' start, two Newton steps in double.
inline double erfinv(double x) {
    if (!(x > -1.0 && x < 1.0)) {
        return x == 1.0 ? HUGE_VAL : x == -1.0 ? -HUGE_VAL : NAN;
    }
    double w = -log((1.0 - x) * (1.0 + x)), p;
    if (w < 5.0) {
        w -= 2.5;
        p = 1.50140941 + w * (0.246640727 + w * (-0.00417768164 + w * -0.00125372503));
    } else {
        w = sqrt(w) - 3.0;
        p = 2.83297682 + w * (1.00167406 + w * (0.00943887047 + w * -0.0076224613));
    }
    double y = p * x;
    for (int i = 0; i < 3; i++) {
        y -= (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    }
    return y;
}
SIMT_INLINE float erfinvf(float x) { return float(erfinv(double(x))); }
SIMT_INLINE double erfcinv(double x) { return erfinv(1.0 - x); }
SIMT_INLINE float erfcinvf(float x) { return float(erfcinv(double(x))); }
SIMT_INLINE double normcdfinv(double x) { return 1.41421356237309504880 * erfinv(2.0 * x - 1.0); }
SIMT_INLINE float normcdfinvf(float x) { return float(normcdfinv(double(x))); }
SIMT_INLINE float fdividef(float a, float b) { return a / b; }
SIMT_INLINE float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
SIMT_INLINE double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
SIMT_INLINE float norm3df(float a, float b, float c) { return float(sqrt(double(a) * a + double(b) * b + double(c) * c)); }
SIMT_INLINE double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
SIMT_INLINE float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
SIMT_INLINE double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
SIMT_INLINE float norm4df(float a, float b, float c, float d) {
    return float(sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
SIMT_INLINE float __fdividef(float a, float b) { return a / b; }
SIMT_INLINE float __expf(float x) { return expf(x); }
SIMT_INLINE float __exp10f(float x) { return simt_exp10f(x); }
SIMT_INLINE float simt_exp2f_approx(float x) { return exp2f(x); }
SIMT_INLINE float simt_fast_log(float x) { return logf(x); }
SIMT_INLINE float simt_fast_log2(float x) { return log2f(x); }
SIMT_INLINE float simt_fast_log10(float x) { return log10f(x); }
SIMT_INLINE float simt_fast_pow(float x, float y) { return powf(x, y); }
SIMT_INLINE float simt_fast_sin(float x) { return sinf(x); }
SIMT_INLINE float simt_fast_cos(float x) { return cosf(x); }
SIMT_INLINE float simt_fast_tan(float x) { return tanf(x); }
// glibc declares functions of these very names.
#define __logf simt_fast_log
#define __log2f simt_fast_log2
#define __log10f simt_fast_log10
#define __powf simt_fast_pow
#define __sinf simt_fast_sin
#define __cosf simt_fast_cos
#define __tanf simt_fast_tan
#define __tanhf simt_fast_tanh
SIMT_INLINE float simt_fast_tanh(float x) { return tanhf(x); }
SIMT_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
SIMT_INLINE float saturate(float x) { return __saturatef(x); }

#define SIMT_ROUNDED(S)                                                                                        \
    SIMT_INLINE float __fadd_##S(float a, float b) { return a + b; }                                           \
    SIMT_INLINE float __fsub_##S(float a, float b) { return a - b; }                                           \
    SIMT_INLINE float __fmul_##S(float a, float b) { return a * b; }                                           \
    SIMT_INLINE float __fdiv_##S(float a, float b) { return a / b; }                                           \
    SIMT_INLINE float __fmaf_##S(float a, float b, float c) { return fmaf(a, b, c); }                          \
    SIMT_INLINE float __frcp_##S(float a) { return 1.0f / a; }                                                 \
    SIMT_INLINE float __fsqrt_##S(float a) { return sqrtf(a); }                                                \
    SIMT_INLINE double __dadd_##S(double a, double b) { return a + b; }                                        \
    SIMT_INLINE double __dsub_##S(double a, double b) { return a - b; }                                        \
    SIMT_INLINE double __dmul_##S(double a, double b) { return a * b; }                                        \
    SIMT_INLINE double __ddiv_##S(double a, double b) { return a / b; }                                        \
    SIMT_INLINE double __fma_##S(double a, double b, double c) { return fma(a, b, c); }                        \
    SIMT_INLINE double __drcp_##S(double a) { return 1.0 / a; }                                                \
    SIMT_INLINE double __dsqrt_##S(double a) { return sqrt(a); }
SIMT_ROUNDED(rn)
SIMT_ROUNDED(rz)
SIMT_ROUNDED(ru)
SIMT_ROUNDED(rd)
SIMT_INLINE float __frsqrt_rn(float a) { return 1.0f / sqrtf(a); }

// Conversions saturate and map NaN to 0, as the hardware does.
namespace simt {
template <class To, class From>
SIMT_INLINE To saturating(From x) {
    constexpr To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    if (!(x == x)) {
        return 0;
    }
    return x <= From(low) ? low : x >= From(high) ? high : To(x);
}
template <class F>
SIMT_INLINE F rounded_rn(F x) { return std::nearbyint(x); }
template <class F>
SIMT_INLINE F rounded_rz(F x) { return std::trunc(x); }
template <class F>
SIMT_INLINE F rounded_ru(F x) { return std::ceil(x); }
template <class F>
SIMT_INLINE F rounded_rd(F x) { return std::floor(x); }
}  // namespace simt
#define SIMT_CONVERT(S)                                                                                        \
    SIMT_INLINE int __float2int_##S(float x) { return simt::saturating<int>(simt::rounded_##S(x)); }           \
    SIMT_INLINE unsigned __float2uint_##S(float x) { return simt::saturating<unsigned>(simt::rounded_##S(x)); } \
    SIMT_INLINE long long __float2ll_##S(float x) { return simt::saturating<long long>(simt::rounded_##S(x)); } \
    SIMT_INLINE unsigned long long __float2ull_##S(float x) {                                                  \
        return simt::saturating<unsigned long long>(simt::rounded_##S(x));                                     \
    }                                                                                                          \
    SIMT_INLINE int __double2int_##S(double x) { return simt::saturating<int>(simt::rounded_##S(x)); }         \
    SIMT_INLINE unsigned __double2uint_##S(double x) { return simt::saturating<unsigned>(simt::rounded_##S(x)); } \
    SIMT_INLINE long long __double2ll_##S(double x) { return simt::saturating<long long>(simt::rounded_##S(x)); } \
    SIMT_INLINE unsigned long long __double2ull_##S(double x) {                                                \
        return simt::saturating<unsigned long long>(simt::rounded_##S(x));                                     \
    }                                                                                                          \
    SIMT_INLINE float __double2float_##S(double x) { return float(x); }                                        \
    SIMT_INLINE float __int2float_##S(int x) { return float(x); }                                              \
    SIMT_INLINE float __uint2float_##S(unsigned x) { return float(x); }                                        \
    SIMT_INLINE float __ll2float_##S(long long x) { return float(x); }                                         \
    SIMT_INLINE float __ull2float_##S(unsigned long long x) { return float(x); }                               \
    SIMT_INLINE double __ll2double_##S(long long x) { return double(x); }                                      \
    SIMT_INLINE double __ull2double_##S(unsigned long long x) { return double(x); }
SIMT_CONVERT(rn)
SIMT_CONVERT(rz)
SIMT_CONVERT(ru)
SIMT_CONVERT(rd)
SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }
SIMT_INLINE int __float_as_int(float x) { return simt::from_bits<int>(simt::bits_of(x)); }
SIMT_INLINE unsigned __float_as_uint(float x) { return simt::from_bits<unsigned>(simt::bits_of(x)); }
SIMT_INLINE float __int_as_float(int x) { return simt::from_bits<float>(simt::bits_of(x)); }
SIMT_INLINE float __uint_as_float(unsigned x) { return simt::from_bits<float>(simt::bits_of(x)); }
SIMT_INLINE long long __double_as_longlong(double x) { return simt::from_bits<long long>(simt::bits_of(x)); }
SIMT_INLINE double __longlong_as_double(long long x) { return simt::from_bits<double>(simt::bits_of(x)); }
SIMT_INLINE int __double2hiint(double x) { return int(simt::bits_of(x) >> 32); }
SIMT_INLINE int __double2loint(double x) { return int(simt::bits_of(x)); }
SIMT_INLINE double __hiloint2double(int high, int low) {
    return simt::from_bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}
