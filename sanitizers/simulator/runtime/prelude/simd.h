// Two halfwords or four bytes of a word at once.
#pragma once
namespace simt {
template <int BITS, class T, class F>
SIMT_INLINE unsigned each_part(unsigned a, unsigned b, F function) {
    unsigned mask = (1u << BITS) - 1u, result = 0u;
    for (int shift = 0; shift < 32; shift += BITS) {
        result |= (unsigned(function(int(T(a >> shift)), int(T(b >> shift)))) & mask) << shift;
    }
    return result;
}
template <int BITS, class T, class F>
SIMT_INLINE unsigned sum_of_parts(unsigned a, unsigned b, F function) {
    unsigned result = 0u;
    for (int shift = 0; shift < 32; shift += BITS) {
        result += unsigned(function(int(T(a >> shift)), int(T(b >> shift))));
    }
    return result;
}
SIMT_INLINE int clamped(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
}  // namespace simt
#define SIMT_PARTS(BITS, N, S, U)                                                                              \
    SIMT_PART(__vadd##N, BITS, U, a + b)                                                                       \
    SIMT_PART(__vsub##N, BITS, U, a - b)                                                                       \
    SIMT_PART(__vaddss##N, BITS, S, simt::clamped(a + b, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1))           \
    SIMT_PART(__vsubss##N, BITS, S, simt::clamped(a - b, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1))           \
    SIMT_PART(__vaddus##N, BITS, U, simt::clamped(a + b, 0, (1 << BITS) - 1))                                  \
    SIMT_PART(__vsubus##N, BITS, U, simt::clamped(a - b, 0, (1 << BITS) - 1))                                  \
    SIMT_PART(__vmins##N, BITS, S, a < b ? a : b)                                                              \
    SIMT_PART(__vminu##N, BITS, U, a < b ? a : b)                                                              \
    SIMT_PART(__vmaxs##N, BITS, S, a < b ? b : a)                                                              \
    SIMT_PART(__vmaxu##N, BITS, U, a < b ? b : a)                                                              \
    SIMT_PART(__vcmpeq##N, BITS, U, a == b ? -1 : 0)                                                           \
    SIMT_PART(__vcmpne##N, BITS, U, a != b ? -1 : 0)                                                           \
    SIMT_PART(__vabsdiffs##N, BITS, S, a < b ? b - a : a - b)                                                  \
    SIMT_PART(__vabsdiffu##N, BITS, U, a < b ? b - a : a - b)                                                  \
    SIMT_PART(__vavgs##N, BITS, S, (a + b + (a + b >= 0)) >> 1)                                                \
    SIMT_PART(__vavgu##N, BITS, U, (a + b + 1) >> 1)                                                           \
    SIMT_SUM(__vsads##N, BITS, S)                                                                              \
    SIMT_SUM(__vsadu##N, BITS, U)
#define SIMT_PART(NAME, BITS, T, E)                                                                            \
    SIMT_INLINE unsigned NAME(unsigned x, unsigned y) {                                                        \
        return simt::each_part<BITS, T>(x, y, [](int a, int b) -> int { return E; });                          \
    }
#define SIMT_SUM(NAME, BITS, T)                                                                                \
    SIMT_INLINE unsigned NAME(unsigned x, unsigned y) {                                                        \
        return simt::sum_of_parts<BITS, T>(x, y, [](int a, int b) -> int { return a < b ? b - a : a - b; });   \
    }
SIMT_PARTS(16, 2, int16_t, uint16_t)
SIMT_PARTS(8, 4, int8_t, uint8_t)
SIMT_INLINE int __dp2a_lo(int a, int b, int c) {
    return int(unsigned(c) + unsigned(int16_t(a) * int8_t(b)) + unsigned(int16_t(a >> 16) * int8_t(b >> 8)));
}
SIMT_INLINE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
