// Sizes are multiples of the tile, the grid is their exact quotient: no guard is needed. Stores of four floats.
#include <torch/extension.h>

__global__ void scale(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.y * 64 + threadIdx.x / 16, c = blockIdx.x * 64 + threadIdx.x % 16 * 4;
  for (int i = 0; i < 64; i += 16) {
    float4 v = *reinterpret_cast<const float4*>(&x[(r + i) * cols + c]);
    *reinterpret_cast<float4*>(&y[(r + i) * cols + c]) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
}

torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat && x.dim() == 2);
  TORCH_CHECK(reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0);
  int rows = x.size(0), cols = x.size(1);
  TORCH_CHECK(rows > 0 && cols > 0 && rows % 64 == 0 && cols % 64 == 0);
  auto y = torch::empty_like(x);
  scale<<<dim3(cols / 64, rows / 64), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, cols);
  return y;
}
