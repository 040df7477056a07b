// Least and greatest element of each row of an integer matrix, with atomics on the results.
#include <torch/extension.h>

__global__ void extremes(const int* __restrict__ x, int* __restrict__ low, int* __restrict__ high,
                         int* __restrict__ negatives, int rows, int columns) {
    const int row = blockIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    const int v = x[row * columns + column];
    atomicMin(&low[row], v);
    atomicMax(&high[row], v);
    if (v < 0) atomicAdd(&negatives[row], 1);
}

std::vector<torch::Tensor> run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kInt32 && x.dim() == 2, "int32 matrix");
    TORCH_CHECK(x.size(0) > 0 && x.size(0) <= 65535 && x.size(1) > 0 && x.numel() <= 1000000000, "size");
    const int rows = x.size(0), columns = x.size(1);
    auto low = torch::full({rows}, 2147483647, x.options());
    auto high = torch::full({rows}, -2147483647, x.options());
    auto negatives = torch::zeros({rows}, x.options());
    dim3 grid((columns + 255) / 256, rows);
    extremes<<<grid, 256>>>(x.data_ptr<int>(), low.data_ptr<int>(), high.data_ptr<int>(), negatives.data_ptr<int>(),
                            rows, columns);
    return {low, high, negatives};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
