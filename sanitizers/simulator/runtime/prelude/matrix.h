// Warp matrix functions. Which lane keeps which element is our own choice, as it is the GPU's: element e of a lane is
// number (lane * count + e) of the matrix by rows, over again where a fragment keeps elements twice.
#pragma once
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
template <class T>
struct simt_storage {
    using type = T;
};
template <>
struct simt_storage<precision::tf32> {
    using type = float;
};
template <class T>
using simt_storage_t = typename simt_storage<T>::type;
template <class Use, int M, int N, int K>
constexpr int simt_rows = std::is_same_v<Use, matrix_b> ? K : M;
template <class Use, int M, int N, int K>
constexpr int simt_columns = std::is_same_v<Use, matrix_a> ? K : N;

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    static constexpr int rows_ = simt_rows<Use, M, N, K>, columns_ = simt_columns<Use, M, N, K>;
    static constexpr bool twice_ = std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator>;
    static constexpr int num_elements = twice_ ? 16 : rows_ * columns_ / 32;
    static constexpr int num_storage_elements = num_elements;
    using element_type = T;
    using storage_element_type = simt_storage_t<T>;
    storage_element_type x[num_elements];
    SIMT_INLINE static int simt_number(int e) { return (simt_lane() * num_elements + e) % (rows_ * columns_); }
};

template <class F, class P>
SIMT_INLINE void simt_load(F& to, const P* from, unsigned ld, bool by_row, simt::Site site) {
    simt_ballot(0xffffffffu, 1, site);
    for (int e = 0; e < F::num_elements; e++) {
        const unsigned r = unsigned(F::simt_number(e) / F::columns_), c = unsigned(F::simt_number(e) % F::columns_);
        to.x[e] = from[by_row ? size_t(r) * ld + c : size_t(c) * ld + r];
    }
}
template <class Use, int M, int N, int K, class T, class L>
SIMT_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, L>& to, const simt_storage_t<T>* from, unsigned ld,
                                  simt::Site site = SIMT_HERE) {
    static_assert(!std::is_same_v<Use, accumulator>, "an accumulator is loaded with a layout");
    simt_load(to, from, ld, std::is_same_v<L, row_major>, site);
}
template <int M, int N, int K, class T>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& to, const T* from, unsigned ld, layout_t layout,
                                  simt::Site site = SIMT_HERE) {
    simt_load(to, from, ld, layout == mem_row_major, site);
}
template <int M, int N, int K, class T>
SIMT_INLINE void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& from, unsigned ld, layout_t layout,
                                   simt::Site site = SIMT_HERE) {
    using F = fragment<accumulator, M, N, K, T>;
    simt_ballot(0xffffffffu, 1, site);
    for (int e = 0; e < F::num_elements; e++) {
        const unsigned r = unsigned(F::simt_number(e) / F::columns_), c = unsigned(F::simt_number(e) % F::columns_);
        to[layout == mem_row_major ? size_t(r) * ld + c : size_t(c) * ld + r] = from.x[e];
    }
}
template <class Use, int M, int N, int K, class T, class L>
SIMT_INLINE void fill_fragment(fragment<Use, M, N, K, T, L>& to, const simt_storage_t<T>& value) {
    const simt_storage_t<T> v = value;
    for (int e = 0; e < to.num_elements; e++) {
        to.x[e] = v;
    }
}
template <int M, int N, int K, class A, class B, class C, class D, class LA, class LB>
SIMT_INLINE void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, A, LA>& a,
                          const fragment<matrix_b, M, N, K, B, LB>& b, const fragment<accumulator, M, N, K, C>& c,
                          bool = false, simt::Site site = SIMT_HERE) {
    using Sum = std::conditional_t<std::is_integral_v<simt_storage_t<A>>, int,
                                   std::conditional_t<std::is_same_v<A, double>, double, float>>;
    simt_storage_t<A> all_a[32 * sizeof a.x / sizeof *a.x];
    simt_storage_t<B> all_b[32 * sizeof b.x / sizeof *b.x];
    simt_collect(0xffffffffu, a.x, sizeof a.x, all_a, site);
    simt_collect(0xffffffffu, b.x, sizeof b.x, all_b, site);
    for (int e = 0; e < d.num_elements; e++) {
        const int r = d.simt_number(e) / N, column = d.simt_number(e) % N;
        Sum sum = Sum(c.x[e]);
        for (int k = 0; k < K; k++) {
            sum += Sum(all_a[r * K + k]) * Sum(all_b[k * N + column]);
        }
        d.x[e] = D(sum);
    }
}
SIMT_INLINE float __float_to_tf32(float value) {  // 10 bits of the significand, ties away from zero
    const uint64_t bits = simt::bits_of(value);
    return value != value ? value : simt::from_bits<float>((bits + 0x1000u) & 0xffffe000u);
}
}  // namespace wmma
}  // namespace nvcuda
