// Sums and greatest values of rows: one block a row, addresses are 64-bit.
#include <torch/extension.h>
#include <cfloat>

__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, int columns) {
    __shared__ float cell[256];
    const int64_t start = (int64_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 256) sum += x[start + c];
    cell[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) cell[threadIdx.x] += cell[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = cell[0];
}

__global__ void row_tops(const float* __restrict__ x, float* __restrict__ tops, int rows, int columns) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const size_t base = static_cast<size_t>(row) * columns;
    float top = -FLT_MAX;
    if (row < rows) {
        for (int c = threadIdx.x; c < columns; c += 32) top = fmaxf(top, x[base + c]);
    }
    for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
    if (threadIdx.x == 0 && row < rows) tops[row] = top;
}

std::vector<torch::Tensor> run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "float matrix");
    TORCH_CHECK(x.size(0) > 0 && x.size(1) > 0 && x.size(0) <= 1000000000 && x.size(1) <= 1000000, "size");
    auto sums = torch::empty({x.size(0)}, x.options());
    auto tops = torch::empty({x.size(0)}, x.options());
    const int rows = x.size(0), columns = x.size(1);
    row_sums<<<rows, 256>>>(x.data_ptr<float>(), sums.data_ptr<float>(), columns);
    row_tops<<<(rows + 3) / 4, dim3(32, 4)>>>(x.data_ptr<float>(), tops.data_ptr<float>(), rows, columns);
    return {sums, tops};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
