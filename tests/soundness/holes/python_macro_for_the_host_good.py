"""The macro that guards the kernel is given to nvcc."""

import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

#ifdef GUARDED
#define GUARD if (i < n)
#else
#define GUARD
#endif

__global__ void shift_kernel(const float* a, float* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GUARD o[i] = a[i] + 1.0f;
}

torch::Tensor shift(torch::Tensor a) {
    TORCH_CHECK(a.is_cuda() && a.is_contiguous() && a.scalar_type() == torch::kFloat32, "a");
    TORCH_CHECK(a.numel() > 0 && a.numel() < (1 << 28), "size");
    auto o = torch::empty_like(a);
    int n = (int)a.numel();
    shift_kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), o.data_ptr<float>(), n);
    return o;
}
"""

ops = load_inline(
    name="ops",
    cpp_sources="torch::Tensor shift(torch::Tensor a);",
    cuda_sources=source,
    functions=["shift"],
    extra_cuda_cflags=["-DGUARDED"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return ops.shift(x.contiguous())
