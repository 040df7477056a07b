/* std::numeric_limits, with the true values. */
namespace std {
#define VK_LIMITS(T, LOW, HIGH)                                                                               \
  template <> struct numeric_limits<T> {                                                                      \
    static constexpr bool is_specialized = true, is_integer = true, is_signed = (T)-1 < (T)0;                 \
    static constexpr int digits = sizeof(T) * 8 - is_signed;                                                  \
    VK_HD static constexpr T min() { return LOW; }                                                            \
    VK_HD static constexpr T lowest() { return LOW; }                                                         \
    VK_HD static constexpr T max() { return HIGH; }                                                           \
  };
#define VK_FLOAT_LIMITS(T, LOW, HIGH, EPSILON, INF, NOT_A_NUMBER, DIGITS)                                     \
  template <> struct numeric_limits<T> {                                                                      \
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true, has_infinity = true;   \
    static constexpr int digits = DIGITS;                                                                     \
    VK_HD static constexpr T min() { return LOW; }                                                            \
    VK_HD static constexpr T lowest() { return -HIGH; }                                                       \
    VK_HD static constexpr T max() { return HIGH; }                                                           \
    VK_HD static constexpr T epsilon() { return EPSILON; }                                                    \
    VK_HD static constexpr T infinity() { return INF; }                                                       \
    VK_HD static constexpr T quiet_NaN() { return NOT_A_NUMBER; }                                             \
  };
template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
VK_LIMITS(char, -128, 127)
VK_LIMITS(signed char, -128, 127)
VK_LIMITS(unsigned char, 0, 255)
VK_LIMITS(short, -32768, 32767)
VK_LIMITS(unsigned short, 0, 65535)
VK_LIMITS(int, -2147483647 - 1, 2147483647)
VK_LIMITS(unsigned, 0, 4294967295u)
VK_LIMITS(long, -9223372036854775807L - 1, 9223372036854775807L)
VK_LIMITS(unsigned long, 0, 18446744073709551615ul)
VK_LIMITS(long long, -9223372036854775807LL - 1, 9223372036854775807LL)
VK_LIMITS(unsigned long long, 0, 18446744073709551615ull)
VK_FLOAT_LIMITS(float, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f, __builtin_inff(), __builtin_nanf(""), 24)
VK_FLOAT_LIMITS(double, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1p-52, __builtin_inf(), __builtin_nan(""), 53)
}  // namespace std
