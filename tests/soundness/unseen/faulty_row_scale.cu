// One block of 256 threads a row: the number of threads passes 2^31 long before the matrix is large.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void row_scale(const float* __restrict__ x, const float* __restrict__ factor, float* __restrict__ y,
                          int rows, int cols) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;  //! refuted: overflow
    int row = thread / 256;
    int lane = thread % 256;
    if (row < rows) {
        for (int c = lane; c < cols; c += 256) {
            y[(int64_t)row * cols + c] = x[(int64_t)row * cols + c] * factor[row];
        }
    }
}

torch::Tensor scale_rows(torch::Tensor x, torch::Tensor factor) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(factor.is_cuda() && factor.is_contiguous() && factor.scalar_type() == torch::kFloat32, "factor");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.numel() <= (1LL << 30), "shape");
    TORCH_CHECK(factor.dim() == 1 && factor.size(0) == x.size(0), "factor");
    auto y = torch::empty_like(x);
    const int rows = x.size(0), cols = x.size(1);
    row_scale<<<rows, 256>>>(x.data_ptr<float>(), factor.data_ptr<float>(), y.data_ptr<float>(), rows, cols);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale_rows", &scale_rows); }
