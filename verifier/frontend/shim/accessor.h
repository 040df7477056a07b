/* Tensor accessors of PyTorch. */
namespace at {
template <typename T> struct DefaultPtrTraits { typedef T *PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T *__restrict PtrType; };

template <typename T, size_t N, template <typename> class P = DefaultPtrTraits, typename I = int64_t>
struct TensorAccessor;
/* The row of an accessor of N dimensions is one of N - 1, of one dimension an element. */
template <typename T, size_t N, template <typename> class P, typename I>
struct vk_row { typedef TensorAccessor<T, N - 1, P, I> type; };
template <typename T, template <typename> class P, typename I>
struct vk_row<T, 1, P, I> { typedef T &type; };
#define VK_ACCESSOR(NAME)                                                                                     \
  struct NAME {                                                                                               \
    T *data_;                                                                                                 \
    I sizes_[N];                                                                                              \
    I strides_[N];                                                                                            \
    VK_HD typename vk_row<T, N, P, I>::type operator[](I) const;                                              \
    VK_HD I size(I) const;                                                                                    \
    VK_HD I stride(I) const;                                                                                  \
    VK_HD T *data() const;                                                                                    \
  };
template <typename T, size_t N, template <typename> class P, typename I>
VK_ACCESSOR(TensorAccessor)
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits, typename I = int64_t>
VK_ACCESSOR(GenericPackedTensorAccessor)
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits, typename I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
}  // namespace at

namespace torch {
using at::DefaultPtrTraits;
using at::GenericPackedTensorAccessor;
using at::PackedTensorAccessor;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;
using at::TensorAccessor;
}  // namespace torch
