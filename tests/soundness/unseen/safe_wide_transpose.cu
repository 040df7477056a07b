// Transpose of a large matrix: indices inside a tile are ints, addresses are size_t.
#include <torch/extension.h>

__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        if (row + k < rows && column < columns) {
            tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(row + k) * columns + column];
        }
    }
    __syncthreads();
    int across = blockIdx.y * 32 + threadIdx.x;
    int down = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        if (down + k < columns && across < rows) {
            const size_t at = (size_t)(down + k) * rows + across;
            y[at] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "float matrix");
    TORCH_CHECK(x.size(0) > 0 && x.size(1) > 0 && x.size(0) <= 2000000 && x.size(1) <= 1000000000, "size");
    const int rows = x.size(0), columns = x.size(1);
    auto y = torch::empty({columns, rows}, x.options());
    dim3 grid((columns + 31) / 32, (rows + 31) / 32);
    transpose<<<grid, dim3(32, 8)>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, columns);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
