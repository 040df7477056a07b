// Softmax over the first `length` elements of each row, one block a row, a tree in shared memory.
#include <torch/extension.h>
#include <cfloat>

__global__ void masked_softmax(const float* __restrict__ x, const int* __restrict__ lengths, float* __restrict__ y,
                               int columns) {
    __shared__ float cell[128];
    const int t = threadIdx.x;
    const int row = blockIdx.x;
    const int length = lengths[row];
    float top = -FLT_MAX;
    for (int c = t; c < columns; c += blockDim.x) {
        if (c < length) top = fmaxf(top, x[row * columns + c]);
    }
    cell[t] = top;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) cell[t] = fmaxf(cell[t], cell[t + s]);
        __syncthreads();
    }
    top = cell[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < columns; c += blockDim.x) {
        const float e = c < length ? expf(x[row * columns + c] - top) : 0.0f;
        y[row * columns + c] = e;
        sum += e;
    }
    cell[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) cell[t] += cell[t + s];
        __syncthreads();
    }
    const float all = cell[0] > 0.0f ? cell[0] : 1.0f;
    for (int c = t; c < columns; c += blockDim.x) y[row * columns + c] /= all;
}

torch::Tensor run(torch::Tensor x, torch::Tensor lengths) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "float matrix");
    TORCH_CHECK(lengths.is_cuda() && lengths.is_contiguous() && lengths.scalar_type() == torch::kInt32, "int32 lengths");
    TORCH_CHECK(lengths.numel() == x.size(0), "one length a row");
    TORCH_CHECK(x.size(0) > 0 && x.size(1) > 0 && x.numel() <= 1000000000, "size");
    auto y = torch::empty_like(x);
    masked_softmax<<<x.size(0), 128>>>(x.data_ptr<float>(), lengths.data_ptr<int>(), y.data_ptr<float>(), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
