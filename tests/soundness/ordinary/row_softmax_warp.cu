// Softmax of rows: one block a row, warp shuffles and one cell of shared memory a warp.
#include <torch/extension.h>
#include <cfloat>

__device__ __forceinline__ float warp_max(float v) {
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}

__device__ __forceinline__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
    __shared__ float cells[32];
    __shared__ float shared_max, shared_sum;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
    float* out = y + static_cast<size_t>(blockIdx.x) * columns;
    float top = -FLT_MAX;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
    top = warp_max(top);
    if (lane == 0) cells[warp] = top;
    __syncthreads();
    if (warp == 0) {
        float v = lane < warps ? cells[lane] : -FLT_MAX;
        v = warp_max(v);
        if (lane == 0) shared_max = v;
    }
    __syncthreads();
    const float m = shared_max;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - m);
    sum = warp_sum(sum);
    if (lane == 0) cells[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float v = lane < warps ? cells[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) shared_sum = v;
    }
    __syncthreads();
    const float scale = 1.0f / shared_sum;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(row[c] - m) * scale;
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "contiguous float32");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0, "matrix");
    TORCH_CHECK(x.size(1) <= (1 << 30) && x.size(0) <= (1 << 30), "size");
    auto y = torch::empty_like(x);
    softmax<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
