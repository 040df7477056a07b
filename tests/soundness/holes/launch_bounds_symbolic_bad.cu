// The block is a size of the input: it may be more than the kernel's __launch_bounds__, and such a launch fails.
#include <torch/extension.h>
template <typename T, int N = 64> struct Shape { static constexpr int block = 4 * N; };
template <typename T, typename S = Shape<T>>
__global__ void __launch_bounds__(S::block) scale_rows(const T* x, T* y, int cols) {
  int i = blockIdx.x * cols + threadIdx.x;
  y[i] = x[i] * T(2);
}
torch::Tensor scale(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2 && x.scalar_type() == torch::kFloat32);
  TORCH_CHECK(x.size(1) <= 1024 && x.size(0) <= 65535);
  auto y = torch::empty_like(x);
  int rows = x.size(0), cols = x.size(1);
  scale_rows<float><<<rows, cols>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);  //! refuted: launch
  return y;
}
