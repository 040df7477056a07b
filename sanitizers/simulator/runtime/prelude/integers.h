// Integer functions under CUDA's names, and min/max with the overloads that CUDA has.
#pragma once
#define SIMT_MIN_MAX(T, A, B)                                                                                  \
    SIMT_INLINE constexpr T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; }                                \
    SIMT_INLINE constexpr T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
SIMT_MIN_MAX(int, int, int)
SIMT_MIN_MAX(unsigned, unsigned, unsigned)
SIMT_MIN_MAX(unsigned, int, unsigned)
SIMT_MIN_MAX(unsigned, unsigned, int)
SIMT_MIN_MAX(long, long, long)
SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
SIMT_MIN_MAX(unsigned long, long, unsigned long)
SIMT_MIN_MAX(unsigned long, unsigned long, long)
SIMT_MIN_MAX(long long, long long, long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, long long)
SIMT_INLINE float min(float a, float b) { return fminf(a, b); }
SIMT_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIMT_INLINE double min(double a, double b) { return fmin(a, b); }
SIMT_INLINE double max(double a, double b) { return fmax(a, b); }
SIMT_INLINE double min(float a, double b) { return fmin(double(a), b); }
SIMT_INLINE double min(double a, float b) { return fmin(a, double(b)); }
SIMT_INLINE double max(float a, double b) { return fmax(double(a), b); }
SIMT_INLINE double max(double a, float b) { return fmax(a, double(b)); }
SIMT_INLINE unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
SIMT_INLINE unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
SIMT_INLINE long long llmin(long long a, long long b) { return b < a ? b : a; }
SIMT_INLINE long long llmax(long long a, long long b) { return a < b ? b : a; }
SIMT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
SIMT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

SIMT_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
SIMT_INLINE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) {
        r |= (x >> i & 1u) << (31 - i);
    }
    return r;
}
SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
SIMT_INLINE int __mul24(int a, int b) {
    return int(unsigned(int(unsigned(a) << 8) >> 8) * unsigned(int(unsigned(b) << 8) >> 8));
}
SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SIMT_INLINE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
SIMT_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SIMT_INLINE unsigned __sad(int a, int b, unsigned c) { return unsigned(a > b ? (long long)a - b : (long long)b - a) + c; }
SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
SIMT_INLINE int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
SIMT_INLINE int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
SIMT_INLINE unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b) >> 1); }
SIMT_INLINE unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b + 1) >> 1); }
SIMT_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = selector >> (4 * i) & 15u;
        unsigned byte = unsigned(bytes >> (8 * (pick & 7u))) & 255u;
        byte = pick & 8u ? (byte & 128u ? 255u : 0u) : byte;
        result |= byte << (8 * i);
    }
    return result;
}
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
    return unsigned(((unsigned long long)high << 32 | low) << (n & 31u) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
    return unsigned(((unsigned long long)high << 32 | low) >> (n & 31u));
}
SIMT_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned n) {
    return n >= 32u ? low : __funnelshift_l(low, high, n);
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned n) {
    return n >= 32u ? high : __funnelshift_r(low, high, n);
}
SIMT_INLINE int __dp4a(int a, int b, int c) {
    unsigned sum = unsigned(c);
    for (int i = 0; i < 4; i++) {
        sum += unsigned(int((signed char)(unsigned(a) >> (8 * i))) * int((signed char)(unsigned(b) >> (8 * i))));
    }
    return int(sum);
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; i++) {
        c += (a >> (8 * i) & 255u) * (b >> (8 * i) & 255u);
    }
    return c;
}
