"""One bias for each group of channels; with more groups than channels the group size is zero, and is divided by."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void group_bias(const float* x, const float* bias, float* y, int64_t total, int64_t channels,
                           int64_t area, int64_t groups, int64_t group_size) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) {
        int64_t channel = (i / area) % channels;
        int64_t group = channel / group_size;  //! refuted: arithmetic
        y[i] = x[i] + (group < groups ? bias[group] : 0.0f);
    }
}

torch::Tensor add_group_bias(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(bias.is_cuda() && bias.is_contiguous() && bias.scalar_type() == torch::kFloat32, "bias");
    TORCH_CHECK(x.dim() == 4 && x.numel() > 0 && bias.dim() == 1 && bias.size(0) > 0, "shape");
    const int64_t channels = x.size(1), area = x.size(2) * x.size(3), groups = bias.size(0);
    const int64_t group_size = channels / groups;
    const int64_t blocks = (x.numel() + 255) / 256;
    TORCH_CHECK(blocks <= 2147483647, "too large");
    auto y = torch::empty_like(x);
    group_bias<<<(unsigned)blocks, 256>>>(x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(),
                                          x.numel(), channels, area, groups, group_size);
    return y;
}
"""

module = load_inline(
    name="group_bias",
    cpp_sources="torch::Tensor add_group_bias(torch::Tensor x, torch::Tensor bias);",
    cuda_sources=cuda_source,
    functions=["add_group_bias"],
)


class ModelNew(nn.Module):
    def __init__(self, groups: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(groups))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return module.add_group_bias(x, self.bias)
