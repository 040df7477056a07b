"""Dot product by tiles; the barrier stands in a loop whose number of rounds differs from thread to thread."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void dot(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int64_t n) {
    __shared__ float product[128];
    float total = 0.0f;
    for (int64_t i = threadIdx.x; i < n; i += 128) {
        product[threadIdx.x] = a[i] * b[i];
        __syncthreads();  //! refuted: barrier-divergence
        if (threadIdx.x == 0) {
            const int64_t left = n - i < 128 ? n - i : 128;
            for (int k = 0; k < left; ++k) total += product[k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = total;
}

torch::Tensor dot_forward(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.is_cuda() && a.is_contiguous() && a.scalar_type() == torch::kFloat32, "a");
    TORCH_CHECK(b.is_cuda() && b.is_contiguous() && b.scalar_type() == torch::kFloat32, "b");
    TORCH_CHECK(a.numel() == b.numel() && a.numel() > 0, "sizes");
    auto out = torch::zeros({1}, a.options());
    dot<<<1, 128>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), a.numel());
    return out;
}
"""

ext = load_inline(
    name="dot_forward",
    cpp_sources="torch::Tensor dot_forward(torch::Tensor a, torch::Tensor b);",
    cuda_sources=source,
    functions=["dot_forward"],
)


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ext.dot_forward(a, b)
