/* 16-bit floats of CUDA and of PyTorch, and their pairs. */
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
#define VK_TENSOR_MIXED(NAME, OTHER, RESULT)                                                                  \
  VK_HD RESULT operator+(NAME, OTHER); VK_HD RESULT operator-(NAME, OTHER);                                   \
  VK_HD RESULT operator*(NAME, OTHER); VK_HD RESULT operator/(NAME, OTHER);                                   \
  VK_HD RESULT operator+(OTHER, NAME); VK_HD RESULT operator-(OTHER, NAME);                                   \
  VK_HD RESULT operator*(OTHER, NAME); VK_HD RESULT operator/(OTHER, NAME);
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
  VK_TENSOR_MIXED(NAME, double, double) VK_TENSOR_MIXED(NAME, int, NAME) VK_TENSOR_MIXED(NAME, int64_t, NAME) \
  VK_HD float operator+(NAME, float); VK_HD float operator-(NAME, float);                                     \
  VK_HD float operator*(NAME, float); VK_HD float operator/(NAME, float);                                     \
  VK_HD float operator+(float, NAME); VK_HD float operator-(float, NAME);                                     \
  VK_HD float operator*(float, NAME); VK_HD float operator/(float, NAME);                                     \
  VK_HD NAME &operator+=(NAME &, const NAME &); VK_HD NAME &operator-=(NAME &, const NAME &);                 \
  VK_HD NAME &operator*=(NAME &, const NAME &); VK_HD NAME &operator/=(NAME &, const NAME &);                 \
  VK_HD float &operator+=(float &, NAME); VK_HD float &operator-=(float &, NAME);                             \
  VK_HD float &operator*=(float &, NAME); VK_HD float &operator/=(float &, NAME);                             \
  VK_HD NAME operator-(const NAME &);                                                                         \
  VK_HD bool operator==(const NAME &, const NAME &); VK_HD bool operator!=(const NAME &, const NAME &);       \
  VK_HD bool operator<(const NAME &, const NAME &); VK_HD bool operator>(const NAME &, const NAME &);         \
  VK_HD bool operator<=(const NAME &, const NAME &); VK_HD bool operator>=(const NAME &, const NAME &);
VK_TENSOR_FLOAT(Half, __half)
VK_TENSOR_FLOAT(BFloat16, __nv_bfloat16)
}  // namespace c10

namespace at {
using c10::BFloat16;
using c10::Half;
}  // namespace at
namespace at {
template <> struct vk_opmath<Half> { typedef float type; };
template <> struct vk_opmath<BFloat16> { typedef float type; };
}  // namespace at
namespace torch {
using c10::BFloat16;
using c10::Half;
}  // namespace torch
