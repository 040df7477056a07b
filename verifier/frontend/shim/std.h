/* Part 3, after the functions: what device code uses of namespace std. */
namespace std {
typedef decltype(nullptr) nullptr_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
template <class T> VK_HD T max(T, T);
template <class T> VK_HD T min(T, T);

template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const noexcept { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_volatile<typename remove_const<T>::type>::type type; };
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct decay { typedef typename remove_cv<typename remove_reference<T>::type>::type type; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> struct is_floating_point : false_type {};
template <> struct is_floating_point<float> : true_type {};
template <> struct is_floating_point<double> : true_type {};
template <class T> constexpr bool is_floating_point_v = is_floating_point<remove_cv_t<T>>::value;
template <class T> struct is_integral : false_type {};
#define VK_INTEGRAL(T, LOW, HIGH)                                                                             \
  template <> struct is_integral<T> : true_type {};                                                           \
  VK_LIMITS(T, LOW, HIGH)
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
VK_INTEGRAL(char, -128, 127)
VK_INTEGRAL(signed char, -128, 127)
VK_INTEGRAL(unsigned char, 0, 255)
VK_INTEGRAL(short, -32768, 32767)
VK_INTEGRAL(unsigned short, 0, 65535)
VK_INTEGRAL(int, -2147483647 - 1, 2147483647)
VK_INTEGRAL(unsigned, 0, 4294967295u)
VK_INTEGRAL(long, -9223372036854775807L - 1, 9223372036854775807L)
VK_INTEGRAL(unsigned long, 0, 18446744073709551615ul)
VK_INTEGRAL(long long, -9223372036854775807LL - 1, 9223372036854775807LL)
VK_INTEGRAL(unsigned long long, 0, 18446744073709551615ull)
template <> struct is_integral<bool> : true_type {};
VK_FLOAT_LIMITS(float, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f, __builtin_inff(), __builtin_nanf(""), 24)
VK_FLOAT_LIMITS(double, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1p-52, __builtin_inf(), __builtin_nan(""), 53)
template <class T> constexpr bool is_integral_v = is_integral<remove_cv_t<T>>::value;
template <class T> struct is_arithmetic : bool_constant<is_integral_v<T> || is_floating_point_v<T>> {};
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T *> : true_type {};
template <class T> constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> constexpr remove_reference_t<T> &&move(T &&) noexcept;
template <class T> VK_HD void swap(T &, T &);
template <class T> constexpr T &&forward(remove_reference_t<T> &) noexcept;
template <class T, size_t N> struct array {
  T elems_[N];
  VK_HD constexpr T &operator[](size_t);
  VK_HD constexpr const T &operator[](size_t) const;
  VK_HD constexpr size_t size() const;
};
}  // namespace std
