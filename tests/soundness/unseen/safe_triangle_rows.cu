// Lower triangle times a vector, and the diagonal's neighbours on their own.
#include <torch/extension.h>

__global__ void lower(const float* __restrict__ m, const float* __restrict__ v, float* __restrict__ y,
                      float* __restrict__ sub, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    for (int c = row; c >= 0; c--) sum += m[row * n + c] * v[c];
    y[row] = sum;
    if (row > 0) sub[row - 1] = m[row * n + row - 1];
    if (n - 1 > row) sum += m[row * n + row + 1];
    if (row >= 2) y[row] += m[row * n + row - 2];
}

std::vector<torch::Tensor> run(torch::Tensor m, torch::Tensor v) {
    TORCH_CHECK(m.is_cuda() && v.is_cuda() && m.is_contiguous() && v.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(m.scalar_type() == torch::kFloat32 && v.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(m.dim() == 2 && m.size(0) == m.size(1) && v.numel() == m.size(0), "square");
    TORCH_CHECK(m.size(0) > 1 && m.size(0) <= 30000, "size");
    const int n = m.size(0);
    auto y = torch::empty({n}, m.options());
    auto sub = torch::empty({n - 1}, m.options());
    lower<<<(n + 63) / 64, 64>>>(m.data_ptr<float>(), v.data_ptr<float>(), y.data_ptr<float>(), sub.data_ptr<float>(), n);
    return {y, sub};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
