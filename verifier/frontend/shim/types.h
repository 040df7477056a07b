/* Part 2: classes, after the vector types and before the functions. */
struct dim3 {
  unsigned x, y, z;
  VK_HD constexpr dim3(unsigned = 1, unsigned = 1, unsigned = 1);
  VK_HD constexpr dim3(uint3);
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

#define VK_SMALL_FLOAT(NAME)                                                                                  \
  struct __attribute__((aligned(2))) NAME {                                                                   \
    unsigned short __x;                                                                                       \
    NAME() = default;                                                                                         \
    VK_HD NAME(float); VK_HD NAME(double); VK_HD NAME(int); VK_HD NAME(unsigned); VK_HD NAME(short);          \
    VK_HD NAME(unsigned short); VK_HD NAME(long); VK_HD NAME(unsigned long); VK_HD NAME(long long);           \
    VK_HD NAME(unsigned long long);                                                                           \
    VK_HD operator float() const;                                                                             \
    VK_HD NAME &operator=(float); VK_HD NAME &operator=(double); VK_HD NAME &operator=(int);                  \
    VK_HD NAME &operator=(unsigned);                                                                          \
  };                                                                                                          \
  VK_HD NAME operator+(const NAME &, const NAME &); VK_HD NAME operator-(const NAME &, const NAME &);         \
  VK_HD NAME operator*(const NAME &, const NAME &); VK_HD NAME operator/(const NAME &, const NAME &);         \
  VK_HD NAME &operator+=(NAME &, const NAME &); VK_HD NAME &operator-=(NAME &, const NAME &);                 \
  VK_HD NAME &operator*=(NAME &, const NAME &); VK_HD NAME &operator/=(NAME &, const NAME &);                 \
  VK_HD NAME operator-(const NAME &); VK_HD NAME operator+(const NAME &);                                     \
  VK_HD bool operator==(const NAME &, const NAME &); VK_HD bool operator!=(const NAME &, const NAME &);       \
  VK_HD bool operator<(const NAME &, const NAME &); VK_HD bool operator>(const NAME &, const NAME &);         \
  VK_HD bool operator<=(const NAME &, const NAME &); VK_HD bool operator>=(const NAME &, const NAME &);

#define VK_PAIR(NAME, SCALAR)                                                                                 \
  struct __attribute__((aligned(4))) NAME {                                                                   \
    SCALAR x, y;                                                                                              \
    NAME() = default;                                                                                         \
    VK_HD constexpr NAME(const SCALAR &, const SCALAR &);                                                     \
  };                                                                                                          \
  VK_HD NAME operator+(const NAME &, const NAME &); VK_HD NAME operator-(const NAME &, const NAME &);         \
  VK_HD NAME operator*(const NAME &, const NAME &); VK_HD NAME operator/(const NAME &, const NAME &);         \
  VK_HD NAME &operator+=(NAME &, const NAME &); VK_HD NAME &operator-=(NAME &, const NAME &);                 \
  VK_HD NAME &operator*=(NAME &, const NAME &); VK_HD NAME &operator/=(NAME &, const NAME &);

VK_SMALL_FLOAT(__half)
VK_SMALL_FLOAT(__nv_bfloat16)
VK_PAIR(__half2, __half)
VK_PAIR(__nv_bfloat162, __nv_bfloat16)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

namespace c10 {
#define VK_TENSOR_FLOAT(NAME, NATIVE)                                                                         \
  struct __attribute__((aligned(2))) NAME {                                                                   \
    unsigned short x;                                                                                         \
    NAME() = default;                                                                                         \
    VK_HD NAME(float); VK_HD NAME(const NATIVE &);                                                            \
    VK_HD operator float() const;                                                                             \
    VK_HD operator NATIVE() const;                                                                            \
  };                                                                                                          \
  VK_HD NAME operator+(const NAME &, const NAME &); VK_HD NAME operator-(const NAME &, const NAME &);         \
  VK_HD NAME operator*(const NAME &, const NAME &); VK_HD NAME operator/(const NAME &, const NAME &);         \
  VK_HD float operator+(NAME, float); VK_HD float operator-(NAME, float);                                     \
  VK_HD float operator*(NAME, float); VK_HD float operator/(NAME, float);                                     \
  VK_HD float operator+(float, NAME); VK_HD float operator-(float, NAME);                                     \
  VK_HD float operator*(float, NAME); VK_HD float operator/(float, NAME);                                     \
  VK_HD NAME &operator+=(NAME &, const NAME &); VK_HD NAME &operator-=(NAME &, const NAME &);                 \
  VK_HD NAME &operator*=(NAME &, const NAME &); VK_HD NAME &operator/=(NAME &, const NAME &);                 \
  VK_HD float &operator+=(float &, NAME); VK_HD float &operator-=(float &, NAME);                             \
  VK_HD float &operator*=(float &, NAME); VK_HD float &operator/=(float &, NAME);                             \
  VK_HD NAME operator-(const NAME &);
VK_TENSOR_FLOAT(Half, __half)
VK_TENSOR_FLOAT(BFloat16, __nv_bfloat16)
}  // namespace c10

namespace at {
using c10::BFloat16;
using c10::Half;
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
using at::BFloat16;
using at::DefaultPtrTraits;
using at::GenericPackedTensorAccessor;
using at::Half;
using at::PackedTensorAccessor;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;
using at::TensorAccessor;
}  // namespace torch

namespace cooperative_groups {
struct thread_group {};
struct thread_block : thread_group {
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
  VK_HD dim3 group_index() const;
  VK_HD dim3 thread_index() const;
  VK_HD dim3 group_dim() const;
  VK_HD dim3 dim_threads() const;
};
struct grid_group : thread_group {
  VK_HD void sync() const;
  VK_HD unsigned long long thread_rank() const;
  VK_HD unsigned long long size() const;
  VK_HD bool is_valid() const;
};
template <unsigned Size, typename Parent = void>
struct thread_block_tile : thread_group {
  thread_block_tile() = default;
  template <typename Other> VK_HD thread_block_tile(const thread_block_tile<Size, Other> &);
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
  VK_HD unsigned meta_group_rank() const;
  VK_HD unsigned meta_group_size() const;
  template <typename T> VK_HD T shfl(T, int) const;
  template <typename T> VK_HD T shfl_up(T, unsigned) const;
  template <typename T> VK_HD T shfl_down(T, unsigned) const;
  template <typename T> VK_HD T shfl_xor(T, unsigned) const;
  VK_HD int any(int) const;
  VK_HD int all(int) const;
  VK_HD unsigned ballot(int) const;
};
struct coalesced_group : thread_group {
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
};
VK_HD thread_block this_thread_block();
VK_HD grid_group this_grid();
VK_HD coalesced_group coalesced_threads();
template <unsigned Size, typename Parent> VK_HD thread_block_tile<Size, Parent> tiled_partition(const Parent &);
template <typename Group> VK_HD void sync(const Group &);
template <typename T> struct plus { VK_HD T operator()(T, T) const; };
template <typename T> struct less { VK_HD T operator()(T, T) const; };
template <typename T> struct greater { VK_HD T operator()(T, T) const; };
template <typename Group, typename T, typename Op> VK_HD T reduce(const Group &, T, const Op &);
}  // namespace cooperative_groups
