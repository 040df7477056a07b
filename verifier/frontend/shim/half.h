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
