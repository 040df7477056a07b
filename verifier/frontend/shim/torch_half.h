/* PyTorch's 16-bit floats; after those of CUDA. */
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
