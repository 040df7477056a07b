// The loop that fills the shared cell may run no round at all.
#include <torch/extension.h>

__global__ void last_row(const float* x, float* y, int rows) {
    __shared__ float cell[64];
    int t = threadIdx.x;
    for (int r = 0; r < rows; ++r) {
        __syncthreads();
        cell[t] = x[(int64_t)r * 64 + t];
    }
    __syncthreads();
    y[t] = cell[63 - t];  //! refuted: uninitialized
}

torch::Tensor run(torch::Tensor x, int rows) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.dim() == 2 && x.size(1) == 64 && x.size(0) > 0, "shape");
    TORCH_CHECK(rows >= 0 && rows <= x.size(0), "rows");
    auto y = torch::empty({64}, x.options());
    last_row<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows);
    return y;
}
