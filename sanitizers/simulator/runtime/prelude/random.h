// cuRAND's device functions. The numbers are our own, of the documented range: a kernel has to be safe for every number.
// Both ends of a range come up more often than chance has it. A call reads and writes every word of its state.
#pragma once

namespace simt {
SIMT_INLINE uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
// Which numbers come next: a key and a counter in the first words.
struct Sequence {
    uint64_t key, counter;
    uint64_t bits() { return mixed(key ^ mixed(++counter * 0x9e3779b97f4a7c15u)); }
    double unit(uint64_t steps) {
        const uint64_t x = bits();
        if ((x & 127) == 0) return 1.0;
        return double((x & 127) == 1 ? 1 : (x >> 11) % steps + 1) / double(steps);
    }
    float uniform() { return float(unit(uint64_t(1) << 24)); }
    double uniform_double() { return unit(uint64_t(1) << 53); }
    double normal() { return std::sqrt(-2.0 * std::log(uniform_double())) * std::cos(6.283185307179586 * uniform_double()); }
    unsigned poisson(double mean) {
        const double x = mean + std::sqrt(mean > 0 ? mean : 0) * normal();
        return x > 0 && x < 4.0e9 ? unsigned(x + 0.5) : 0;
    }
};
template <class S>
SIMT_INLINE void put(S* state, Sequence next) {
    using Word = std::remove_reference_t<decltype(state->vk_words[0])>;
    constexpr int bits = sizeof(Word) * 8 % 64, half = 64 / (sizeof(Word) * 8);
    for (unsigned k = 0; k < sizeof(state->vk_words) / sizeof(Word); k++) {
        const uint64_t value = k < half ? next.key : next.counter;
        state->vk_words[k] = k < 2 * half ? Word(value >> (k % half * bits)) : Word(0);
    }
}
template <class S>
SIMT_INLINE Sequence take(S* state) {
    using Word = std::remove_reference_t<decltype(state->vk_words[0])>;
    constexpr int bits = sizeof(Word) * 8 % 64, half = 64 / (sizeof(Word) * 8);
    Sequence found{0, 0};
    for (unsigned k = 0; k < sizeof(state->vk_words) / sizeof(Word); k++) {
        const uint64_t word = state->vk_words[k];
        if (k < half) found.key |= word << (k * bits);
        else if (k < 2 * half) found.counter |= word << ((k - half) * bits);
        else found.key ^= word;
    }
    return found;
}
}  // namespace simt

#define SIMT_STATE(NAME, ALIGN, WORD, COUNT)                                                                   \
    struct __attribute__((aligned(ALIGN))) NAME { WORD vk_words[COUNT]; };                                     \
    typedef NAME NAME##_t;                                                                                     \
    SIMT_INLINE void skipahead(unsigned long long n, NAME* state) {                                            \
        simt::Sequence s = simt::take(state);                                                                  \
        s.counter += n;                                                                                        \
        simt::put(state, s);                                                                                   \
    }
#define SIMT_RANDOM(NAME, STATE, RESULT, PARAMETERS, VALUE)                                                    \
    SIMT_INLINE RESULT NAME PARAMETERS {                                                                       \
        simt::Sequence s = simt::take(state);                                                                  \
        const RESULT value = VALUE;                                                                            \
        simt::put(state, s);                                                                                   \
        return value;                                                                                          \
    }
#define SIMT_NUMBERS(STATE, WORD)                                                                              \
    SIMT_RANDOM(curand, STATE, WORD, (STATE * state), (WORD)s.bits())                                         \
    SIMT_RANDOM(curand_uniform, STATE, float, (STATE * state), s.uniform())                                    \
    SIMT_RANDOM(curand_uniform_double, STATE, double, (STATE * state), s.uniform_double())                     \
    SIMT_RANDOM(curand_normal, STATE, float, (STATE * state), float(s.normal()))                               \
    SIMT_RANDOM(curand_normal_double, STATE, double, (STATE * state), s.normal())                              \
    SIMT_RANDOM(curand_log_normal, STATE, float, (STATE * state, float m, float d), float(std::exp(m + d * s.normal())))  \
    SIMT_RANDOM(curand_log_normal_double, STATE, double, (STATE * state, double m, double d), std::exp(m + d * s.normal())) \
    SIMT_RANDOM(curand_poisson, STATE, unsigned, (STATE * state, double mean), s.poisson(mean))
#define SIMT_SEEDED(STATE, ALIGN, COUNT)                                                                       \
    SIMT_STATE(STATE, ALIGN, unsigned, COUNT)                                                                  \
    SIMT_NUMBERS(STATE, unsigned)                                                                              \
    SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, STATE* state) { \
        simt::put(state, {simt::mixed(simt::mixed(seed) + sequence), offset});                                 \
    }                                                                                                          \
    SIMT_INLINE void skipahead_sequence(unsigned long long n, STATE* state) {                                  \
        simt::Sequence s = simt::take(state);                                                                  \
        s.key = simt::mixed(s.key + n);                                                                        \
        simt::put(state, s);                                                                                   \
    }                                                                                                          \
    SIMT_RANDOM(curand_normal2, STATE, float2, (STATE * state), (float2{float(s.normal()), float(s.normal())})) \
    SIMT_RANDOM(curand_normal2_double, STATE, double2, (STATE * state), (double2{s.normal(), s.normal()}))     \
    SIMT_RANDOM(curand_log_normal2, STATE, float2, (STATE * state, float m, float d),                          \
                (float2{float(std::exp(m + d * s.normal())), float(std::exp(m + d * s.normal()))}))            \
    SIMT_RANDOM(curand_log_normal2_double, STATE, double2, (STATE * state, double m, double d),                \
                (double2{std::exp(m + d * s.normal()), std::exp(m + d * s.normal())}))
#define SIMT_SOBOL(NAME, WORD, ALIGN, BITS, COUNT)                                                             \
    SIMT_STATE(curandState##NAME, ALIGN, WORD, COUNT)                                                          \
    SIMT_STATE(curandStateScrambled##NAME, ALIGN, WORD, COUNT)                                                 \
    SIMT_NUMBERS(curandState##NAME, WORD)                                                                      \
    SIMT_NUMBERS(curandStateScrambled##NAME, WORD)                                                             \
    SIMT_INLINE void curand_init(const WORD* vectors, unsigned offset, curandState##NAME* state) {             \
        uint64_t key = 0;                                                                                      \
        for (int k = 0; k < BITS; k++) key = simt::mixed(key + vectors[k]);                                    \
        simt::put(state, {key, offset});                                                                       \
    }                                                                                                          \
    SIMT_INLINE void curand_init(const WORD* vectors, WORD scramble, unsigned offset, curandStateScrambled##NAME* state) { \
        uint64_t key = scramble;                                                                               \
        for (int k = 0; k < BITS; k++) key = simt::mixed(key + vectors[k]);                                    \
        simt::put(state, {key, offset});                                                                       \
    }
SIMT_SEEDED(curandStateXORWOW, 8, 12)
SIMT_SEEDED(curandStatePhilox4_32_10, 16, 16)
SIMT_SEEDED(curandStateMRG32k3a, 8, 12)
SIMT_SOBOL(Sobol32, unsigned, 4, 32, 35)
SIMT_SOBOL(Sobol64, unsigned long long, 8, 64, 67)
typedef curandStateXORWOW curandState, curandState_t;
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
SIMT_INLINE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) { skipahead_sequence(n, state); }

#define SIMT_PHILOX(NAME, RESULT, PARAMETERS, VALUE) SIMT_RANDOM(NAME, curandStatePhilox4_32_10, RESULT, PARAMETERS, VALUE)
#define SIMT_LOG_NORMAL std::exp(m + d * s.normal())
SIMT_PHILOX(curand4, uint4, (curandStatePhilox4_32_10 * state),
            (uint4{unsigned(s.bits()), unsigned(s.bits()), unsigned(s.bits()), unsigned(s.bits())}))
SIMT_PHILOX(curand_poisson4, uint4, (curandStatePhilox4_32_10 * state, double m),
            (uint4{s.poisson(m), s.poisson(m), s.poisson(m), s.poisson(m)}))
SIMT_PHILOX(curand_uniform4, float4, (curandStatePhilox4_32_10 * state),
            (float4{s.uniform(), s.uniform(), s.uniform(), s.uniform()}))
SIMT_PHILOX(curand_uniform2_double, double2, (curandStatePhilox4_32_10 * state),
            (double2{s.uniform_double(), s.uniform_double()}))
SIMT_PHILOX(curand_uniform4_double, double4, (curandStatePhilox4_32_10 * state),
            (double4{s.uniform_double(), s.uniform_double(), s.uniform_double(), s.uniform_double()}))
SIMT_PHILOX(curand_normal4, float4, (curandStatePhilox4_32_10 * state),
            (float4{float(s.normal()), float(s.normal()), float(s.normal()), float(s.normal())}))
SIMT_PHILOX(curand_normal4_double, double4, (curandStatePhilox4_32_10 * state),
            (double4{s.normal(), s.normal(), s.normal(), s.normal()}))
SIMT_PHILOX(curand_log_normal4, float4, (curandStatePhilox4_32_10 * state, float m, float d),
            (float4{float(SIMT_LOG_NORMAL), float(SIMT_LOG_NORMAL), float(SIMT_LOG_NORMAL), float(SIMT_LOG_NORMAL)}))
SIMT_PHILOX(curand_log_normal4_double, double4, (curandStatePhilox4_32_10 * state, double m, double d),
            (double4{SIMT_LOG_NORMAL, SIMT_LOG_NORMAL, SIMT_LOG_NORMAL, SIMT_LOG_NORMAL}))
