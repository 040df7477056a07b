// A grid of 60,000 rows is within the limit.
#include <torch/extension.h>

__global__ void fill(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[blockIdx.y * (long)n + i] = 1.f;
}

torch::Tensor run(torch::Tensor y) {
  TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == at::kFloat);
  TORCH_CHECK(y.dim() == 2 && y.size(0) == 60000 && y.size(1) > 0 && y.size(1) < 1000);
  int n = y.size(1);
  fill<<<dim3((n + 255) / 256, y.size(0)), 256>>>(y.data_ptr<float>(), n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
