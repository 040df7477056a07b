"""A property says which way: a function would always be true."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void add_kernel(const float* __restrict__ a, float* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i] + 1.0f;  //! not proved: bounds-global
}

void add(torch::Tensor a, torch::Tensor o) {
    TORCH_CHECK(a.is_cuda() && o.is_cuda() && a.is_contiguous() && o.is_contiguous(), "layout");
    TORCH_CHECK(a.scalar_type() == torch::kFloat32 && o.scalar_type() == torch::kFloat32, "dtype");
    TORCH_CHECK(a.numel() > 0 && a.numel() < (1 << 28), "size");
    int n = (int)a.numel();
    add_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), o.data_ptr<float>(), n);
}
"""

ops = load_inline(
    name="ops",
    cpp_sources="void add(torch::Tensor a, torch::Tensor o);",
    cuda_sources=source,
    functions=["add"],
)


class ModelNew(nn.Module):
    @property
    def large(self):
        return False

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x) if self.large else torch.empty(3, device=x.device)
        ops.add(x, y)
        return y
