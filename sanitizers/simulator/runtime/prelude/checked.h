// Integers that report when an operation or a conversion loses their value. A replay of an overflow puts one line's
// operands into them (sanitizers/simulator/line.py); the compiler's own check sees signed arithmetic only.
#pragma once
namespace simt {
template <class T>
constexpr const char* type_name() {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
        case 1: return is_signed ? "'signed char'" : "'unsigned char'";
        case 2: return is_signed ? "'short'" : "'unsigned short'";
        case 4: return is_signed ? "'int'" : "'unsigned int'";
        default: return is_signed ? "'long'" : "'unsigned long'";
    }
}
template <class T>
constexpr bool integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The value modulo 2^w, as the hardware keeps it; a report if that is another value.
template <class T>
T kept(__int128 value, Site site) {
    T result = T(value);
    if (__int128(result) != value) {
        simt_lost(int64_t(value >> 64), uint64_t(value), type_name<T>(), site);
    }
    return result;
}

template <class T>
struct checked {
    T value;
    Site site;
    template <class U, std::enable_if_t<integer<U>, int> = 0>
    operator U() const {
        return kept<U>(value, site);
    }
    template <class U, std::enable_if_t<std::is_floating_point_v<U>, int> = 0>
    operator U() const {
        return U(value);
    }
    explicit operator bool() const { return value != 0; }
    auto operator-() const { return checked<decltype(-T())>{kept<decltype(-T())>(-__int128(value), site), site}; }
    auto operator+() const { return checked<decltype(+T())>{value, site}; }
    auto operator~() const { return checked<decltype(~T())>{decltype(~T())(~value), site}; }
    bool operator!() const { return value == 0; }
};

// Wraps an integer; lets everything else pass.
template <class T>
SIMT_INLINE decltype(auto) ck(const T& value, Site site = SIMT_HERE) {
    if constexpr (integer<T>) {
        return checked<T>{value, site};
    } else {
        return static_cast<const T&>(value);
    }
}

#define SIMT_CHECKED(OP, E)                                                                                    \
    template <class A, class B>                                                                                \
    auto operator OP(checked<A> x, checked<B> y) {                                                             \
        using C = decltype(A() OP B());                                                                        \
        __int128 a = kept<C>(x.value, x.site), b = kept<C>(y.value, y.site);                                   \
        return checked<C>{kept<C>(E, x.site), x.site};                                                         \
    }                                                                                                          \
    SIMT_CHECKED_MIXED(OP)
#define SIMT_CHECKED_MIXED(OP)                                                                                 \
    template <class A, class B, std::enable_if_t<integer<B> || std::is_same_v<B, bool>, int> = 0>              \
    auto operator OP(checked<A> x, B y) {                                                                      \
        return x OP checked<B>{y, x.site};                                                                     \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<integer<A> || std::is_same_v<A, bool>, int> = 0>              \
    auto operator OP(A x, checked<B> y) {                                                                      \
        return checked<A>{x, y.site} OP y;                                                                     \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<std::is_floating_point_v<B>, int> = 0>                        \
    auto operator OP(checked<A> x, B y) {                                                                      \
        return simt_float<A, B>(x.value) OP y;                                                                 \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<std::is_floating_point_v<A>, int> = 0>                        \
    auto operator OP(A x, checked<B> y) {                                                                      \
        return x OP simt_float<B, A>(y.value);                                                                 \
    }
template <class A, class F>
F simt_float(A value) {
    return F(value);
}
SIMT_CHECKED(+, a + b)
SIMT_CHECKED(-, a - b)
SIMT_CHECKED(*, a* b)
SIMT_CHECKED(/, (C(b) == 0 ? __int128(C(a) / C(b)) : a / b))
#define SIMT_CHECKED_INTEGER(OP, E)                                                                            \
    template <class A, class B>                                                                                \
    auto operator OP(checked<A> x, checked<B> y) {                                                             \
        using C = decltype(A() OP B());                                                                        \
        C a = kept<C>(x.value, x.site), b = kept<C>(y.value, y.site);                                          \
        return checked<C>{C(E), x.site};                                                                       \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<integer<B>, int> = 0>                                         \
    auto operator OP(checked<A> x, B y) {                                                                      \
        return x OP checked<B>{y, x.site};                                                                     \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<integer<A>, int> = 0>                                         \
    auto operator OP(A x, checked<B> y) {                                                                      \
        return checked<A>{x, y.site} OP y;                                                                     \
    }
SIMT_CHECKED_INTEGER(%, a % b)
SIMT_CHECKED_INTEGER(&, a& b)
SIMT_CHECKED_INTEGER(|, a | b)
SIMT_CHECKED_INTEGER(^, a ^ b)
#define SIMT_CHECKED_SHIFT(OP, E)                                                                              \
    template <class A, class B>                                                                                \
    auto operator OP(checked<A> x, checked<B> y) {                                                             \
        using C = decltype(A() OP 1);                                                                          \
        __int128 a = x.value;                                                                                  \
        int n = int(y.value) & int(8 * sizeof(C) - 1);                                                         \
        return checked<C>{kept<C>(E, x.site), x.site};                                                         \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<integer<B>, int> = 0>                                         \
    auto operator OP(checked<A> x, B y) {                                                                      \
        return x OP checked<B>{y, x.site};                                                                     \
    }                                                                                                          \
    template <class A, class B, std::enable_if_t<integer<A>, int> = 0>                                         \
    auto operator OP(A x, checked<B> y) {                                                                      \
        return checked<A>{x, y.site} OP y;                                                                     \
    }
SIMT_CHECKED_SHIFT(<<, a * (__int128(1) << n))
SIMT_CHECKED_SHIFT(>>, a >> n)
#define SIMT_CHECKED_RELATION(OP)                                                                              \
    template <class A, class B>                                                                                \
    bool operator OP(checked<A> x, checked<B> y) {                                                             \
        using C = decltype(A() + B());                                                                         \
        return kept<C>(x.value, x.site) OP kept<C>(y.value, y.site);                                           \
    }                                                                                                          \
    SIMT_CHECKED_MIXED(OP)
SIMT_CHECKED_RELATION(<)
SIMT_CHECKED_RELATION(<=)
SIMT_CHECKED_RELATION(>)
SIMT_CHECKED_RELATION(>=)
SIMT_CHECKED_RELATION(==)
SIMT_CHECKED_RELATION(!=)
template <class A, class B>
auto min(checked<A> x, B y) { return ck(::min(x.value, decltype(+B())(y)), x.site); }
template <class A, class B>
auto max(checked<A> x, B y) { return ck(::max(x.value, decltype(+B())(y)), x.site); }
template <class A>
auto abs(checked<A> x) { return ck(::abs(x.value), x.site); }
}  // namespace simt
