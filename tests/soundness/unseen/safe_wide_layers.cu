// Layers of a large volume: sums along its first axis, differences along its last one, and a copy with a gap.
#include <torch/extension.h>

__global__ void column_sums(const float* __restrict__ x, float* __restrict__ y, int layers, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (column >= columns || row >= rows) return;
    const int64_t place = (int64_t)row * columns + column;
    float sum = 0.0f;
    for (int layer = 0; layer < layers; layer++) {
        const int64_t at = (int64_t)layer * rows * columns + place;
        sum += x[at];
    }
    y[place] = sum;
}

__global__ void steps(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
    const int row = blockIdx.x;
    const int64_t layer = blockIdx.y;
    const int64_t first = (layer * rows + row) * columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        const int64_t at = first + c;
        y[at] = c > 0 ? x[at] - x[at - 1] : 0.0f;
    }
}

__global__ void first_layer(const float* __restrict__ x, float* __restrict__ y, int layers, int rows, int columns) {
    const int layer = blockIdx.x * blockDim.x + threadIdx.x;
    if (layer >= layers) return;
    const size_t from = static_cast<size_t>(layer) * rows * columns;
    const size_t last = from + static_cast<size_t>(rows) * columns - 1;
    y[layer] = x[from] + x[last];
}

std::vector<torch::Tensor> run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 3, "float volume");
    TORCH_CHECK(x.numel() > 0 && x.size(0) <= 65535 && x.size(1) <= 65535 && x.size(2) <= 65535, "size");
    const int layers = x.size(0), rows = x.size(1), columns = x.size(2);
    auto sums = torch::empty({rows, columns}, x.options());
    auto differences = torch::empty_like(x);
    auto heads = torch::empty({layers}, x.options());
    column_sums<<<dim3((columns + 127) / 128, rows), 128>>>(x.data_ptr<float>(), sums.data_ptr<float>(), layers, rows,
                                                            columns);
    steps<<<dim3(rows, layers), 128>>>(x.data_ptr<float>(), differences.data_ptr<float>(), rows, columns);
    first_layer<<<(layers + 63) / 64, 64>>>(x.data_ptr<float>(), heads.data_ptr<float>(), layers, rows, columns);
    return {sums, differences, heads};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
