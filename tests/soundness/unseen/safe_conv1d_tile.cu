// Filter of seven taps over a signal: a tile with halo in shared memory, zeros outside of the signal.
#include <torch/extension.h>

constexpr int TILE = 128, RADIUS = 3;

__global__ void conv1d(const float* __restrict__ x, const float* __restrict__ taps, float* __restrict__ y, int n) {
    __shared__ float tile[TILE + 2 * RADIUS];
    __shared__ float weight[2 * RADIUS + 1];
    const int t = threadIdx.x;
    const int i = blockIdx.x * TILE + t;
    tile[t + RADIUS] = i < n ? x[i] : 0.0f;
    if (t < RADIUS) {
        tile[t] = i >= RADIUS ? x[i - RADIUS] : 0.0f;
        tile[t + TILE + RADIUS] = i + TILE < n ? x[i + TILE] : 0.0f;
    }
    if (t < 2 * RADIUS + 1) weight[t] = taps[t];
    __syncthreads();
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 2 * RADIUS + 1; k++) sum += tile[t + k] * weight[k];
    y[i] = sum;
}

torch::Tensor run(torch::Tensor x, torch::Tensor taps) {
    TORCH_CHECK(x.is_cuda() && taps.is_cuda() && x.is_contiguous() && taps.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32 && taps.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(x.numel() > RADIUS && x.numel() <= 1000000000 && taps.numel() == 2 * RADIUS + 1, "size");
    auto y = torch::empty_like(x);
    const int n = x.numel();
    conv1d<<<(n + TILE - 1) / TILE, TILE>>>(x.data_ptr<float>(), taps.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
