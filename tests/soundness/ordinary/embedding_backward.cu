// Gradient of an embedding: rows are added with atomics where the index is valid.
#include <torch/extension.h>

__global__ void embedding_backward(const float* grad, const int64_t* index, float* table, int64_t tokens, int64_t rows, int64_t width) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= tokens * width) return;
    const int64_t token = i / width, c = i % width;
    const int64_t row = index[token];
    if (row >= 0 && row < rows) atomicAdd(&table[row * width + c], grad[i]);
}

torch::Tensor run(torch::Tensor grad, torch::Tensor index, int64_t rows) {
    TORCH_CHECK(grad.is_cuda() && grad.is_contiguous() && grad.scalar_type() == torch::kFloat32 && grad.dim() == 2, "grad");
    TORCH_CHECK(index.is_cuda() && index.is_contiguous() && index.scalar_type() == torch::kInt64, "index");
    TORCH_CHECK(index.numel() == grad.size(0) && grad.numel() > 0 && rows > 0 && rows <= (1 << 24) && grad.size(1) <= (1 << 16), "size");
    auto table = torch::zeros({rows, grad.size(1)}, grad.options());
    const int64_t total = grad.numel();
    embedding_backward<<<(total + 255) / 256, 256>>>(grad.data_ptr<float>(), index.data_ptr<int64_t>(), table.data_ptr<float>(),
                                                     grad.size(0), rows, grad.size(1));
    return table;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
