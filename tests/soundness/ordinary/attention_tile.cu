// Attention for one head a block row: keys and values go through shared memory tile by tile, running maximum and sum.
#include <torch/extension.h>
#include <cmath>

constexpr int BR = 32, BC = 32, D = 64;

__global__ void attention(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ o,
                          int length, float scale) {
    __shared__ float ks[BC][D + 1];
    __shared__ float vs[BC][D + 1];
    const int row = blockIdx.x * BR + threadIdx.x;
    const int64_t base = static_cast<int64_t>(blockIdx.y) * length * D;
    float query[D], acc[D];
    float top = -INFINITY, sum = 0.0f;
    for (int d = 0; d < D; ++d) {
        query[d] = row < length ? q[base + static_cast<int64_t>(row) * D + d] : 0.0f;
        acc[d] = 0.0f;
    }
    for (int start = 0; start < length; start += BC) {
        __syncthreads();
        for (int i = threadIdx.x; i < BC * D; i += BR) {
            const int r = i / D, d = i % D;
            const bool there = start + r < length;
            ks[r][d] = there ? k[base + static_cast<int64_t>(start + r) * D + d] : 0.0f;
            vs[r][d] = there ? v[base + static_cast<int64_t>(start + r) * D + d] : 0.0f;
        }
        __syncthreads();
        const int many = min(BC, length - start);
        for (int j = 0; j < many; ++j) {
            float dot = 0.0f;
            for (int d = 0; d < D; ++d) dot += query[d] * ks[j][d];
            dot *= scale;
            const float now = fmaxf(top, dot);
            const float keep = expf(top - now), add = expf(dot - now);
            sum = sum * keep + add;
            for (int d = 0; d < D; ++d) acc[d] = acc[d] * keep + add * vs[j][d];
            top = now;
        }
    }
    if (row < length)
        for (int d = 0; d < D; ++d) o[base + static_cast<int64_t>(row) * D + d] = acc[d] / sum;
}

torch::Tensor run(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
    TORCH_CHECK(q.is_cuda() && q.is_contiguous() && q.scalar_type() == torch::kFloat32 && q.dim() == 4 && q.size(3) == D, "q");
    TORCH_CHECK(k.is_cuda() && k.is_contiguous() && k.scalar_type() == torch::kFloat32 && k.sizes() == q.sizes(), "k");
    TORCH_CHECK(v.is_cuda() && v.is_contiguous() && v.scalar_type() == torch::kFloat32 && v.sizes() == q.sizes(), "v");
    TORCH_CHECK(q.numel() > 0 && q.size(0) * q.size(1) <= 65535 && q.size(2) <= (1 << 20), "size");
    auto o = torch::empty_like(q);
    const int length = q.size(2);
    attention<<<dim3((length + BR - 1) / BR, q.size(0) * q.size(1)), BR>>>(
        q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), o.data_ptr<float>(), length, 1.0f / std::sqrt(float(D)));
    return o;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
