"""The name is bound to the function."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void add_kernel(const float* __restrict__ a, float* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i] + 1.0f;
}

void add_more(torch::Tensor a, torch::Tensor o, int64_t n) {
    TORCH_CHECK(a.is_cuda() && o.is_cuda() && a.is_contiguous() && o.is_contiguous(), "layout");
    TORCH_CHECK(a.scalar_type() == torch::kFloat32 && o.scalar_type() == torch::kFloat32, "dtype");
    TORCH_CHECK(n > 0 && n < (1 << 28), "size");
    add_kernel<<<((int)n + 255) / 256, 256>>>(a.data_ptr<float>(), o.data_ptr<float>(), (int)n);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add_more", &add_more); }
"""

ops = load_inline(name="ops", cpp_sources="", cuda_sources=source, functions=None)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        ops.add_more(x, y, x.numel())
        return y
