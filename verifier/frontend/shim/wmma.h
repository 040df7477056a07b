/* Warp matrix functions. A fragment holds what one lane keeps of a matrix; which part that is nobody may know. */
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
template <class T> struct vk_storage { typedef T type; };
template <> struct vk_storage<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K, class T> struct vk_count { static constexpr int value = M * N / 32; };
template <int M, int N, int K, class T> struct vk_count<matrix_a, M, N, K, T> { static constexpr int value = M * K / 32; };
template <int M, int N, int K, class T> struct vk_count<matrix_b, M, N, K, T> { static constexpr int value = N * K / 32; };
template <int M, int N, int K> struct vk_count<matrix_a, M, N, K, __half> { static constexpr int value = 16; };
template <int M, int N, int K> struct vk_count<matrix_b, M, N, K, __half> { static constexpr int value = 16; };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  typedef T element_type;
  typedef typename vk_storage<T>::type storage_element_type;
  static constexpr int num_elements = vk_count<Use, M, N, K, T>::value;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};
template <class Use, int M, int N, int K, class T, class L>
VK_HD void load_matrix_sync(fragment<Use, M, N, K, T, L> &, const typename vk_storage<T>::type *, unsigned);
template <int M, int N, int K, class T>
VK_HD void load_matrix_sync(fragment<accumulator, M, N, K, T> &, const T *, unsigned, layout_t);
template <int M, int N, int K, class T>
VK_HD void store_matrix_sync(T *, const fragment<accumulator, M, N, K, T> &, unsigned, layout_t);
template <class Use, int M, int N, int K, class T, class L>
VK_HD void fill_fragment(fragment<Use, M, N, K, T, L> &, const typename vk_storage<T>::type &);
template <int M, int N, int K, class A, class B, class C, class D, class LA, class LB>
VK_HD void mma_sync(fragment<accumulator, M, N, K, D> &, const fragment<matrix_a, M, N, K, A, LA> &,
                    const fragment<matrix_b, M, N, K, B, LB> &, const fragment<accumulator, M, N, K, C> &, bool = false);
VK_HD float __float_to_tf32(float);
}  // namespace wmma
}  // namespace nvcuda
