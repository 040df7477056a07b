// One-dimensional stencil of radius 4 with a halo in shared memory.
#include <torch/extension.h>

#define RADIUS 4
#define BLOCK 128

__constant__ float weights[2 * RADIUS + 1];

__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int n) {
    __shared__ float cells[BLOCK + 2 * RADIUS];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int at = threadIdx.x + RADIUS;
    cells[at] = i < n ? in[i] : 0.0f;
    if (threadIdx.x < RADIUS) {
        cells[at - RADIUS] = i - RADIUS >= 0 ? in[i - RADIUS] : 0.0f;
        cells[at + BLOCK] = i + BLOCK < n ? in[i + BLOCK] : 0.0f;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; ++d) sum += weights[d + RADIUS] * cells[at + d];
    out[i] = sum;
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30), "size");
    auto y = torch::empty_like(x);
    const int n = x.numel();
    stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
