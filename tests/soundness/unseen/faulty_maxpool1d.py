"""1-D max-pool; the number of outputs rounds up, and the last window runs past the end of its row."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void pool(const float* x, float* y, int length, int out_length, int window) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (o < out_length) {
        float best = -1e30f;
        for (int k = 0; k < window; k++) {
            best = fmaxf(best, x[(long long)row * length + o * window + k]);  //! refuted: bounds-global
        }
        y[(long long)row * out_length + o] = best;
    }
}

torch::Tensor max_pool1d(torch::Tensor x, int window) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.size(0) <= 65535 && x.size(1) <= (1 << 30), "shape");
    TORCH_CHECK(window >= 1 && window <= 1024, "window");
    const int length = x.size(1);
    const int out_length = (length + window - 1) / window;
    auto y = torch::empty({x.size(0), out_length}, x.options());
    dim3 grid((out_length + 127) / 128, x.size(0));
    pool<<<grid, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), length, out_length, window);
    return y;
}
"""

module = load_inline(
    name="max_pool1d",
    cpp_sources="torch::Tensor max_pool1d(torch::Tensor x, int window);",
    cuda_sources=cuda_source,
    functions=["max_pool1d"],
)


class ModelNew(nn.Module):
    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return module.max_pool1d(x.contiguous(), self.window)
