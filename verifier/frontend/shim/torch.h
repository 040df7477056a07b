/* PyTorch's namespaces, for texts that speak of them. */
namespace c10 {}
namespace at {
/* The type that PyTorch computes in: float for its 16-bit floats. */
template <typename T> struct vk_opmath { typedef T type; };
template <typename T> using opmath_type = typename vk_opmath<T>::type;
template <typename T, bool IsCuda> struct vk_acc { typedef T type; };
}  // namespace at
namespace torch {}
