"""Nearest-neighbour resize of images to any size; the source coordinate is a float, clamped to the image."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ __forceinline__ int64_t nearest(int64_t at, float scale, int64_t size) {
    const float place = fminf(fmaxf(floorf(static_cast<float>(at) * scale), 0.0f), 1.0e6f);
    const int64_t source = static_cast<int64_t>(place);
    return source < size ? source : size - 1;
}

__global__ void resize(const float* __restrict__ in, float* __restrict__ out, int64_t total,
                       int64_t in_h, int64_t in_w, int64_t out_h, int64_t out_w, float scale_h, float scale_w) {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += stride) {
        const int64_t w = i % out_w;
        const int64_t rest = i / out_w;
        const int64_t h = rest % out_h;
        const int64_t plane = rest / out_h;
        out[i] = in[(plane * in_h + nearest(h, scale_h, in_h)) * in_w + nearest(w, scale_w, in_w)];
    }
}

torch::Tensor nearest_resize(torch::Tensor x, int64_t out_h, int64_t out_w) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be a float32 CUDA tensor");
    TORCH_CHECK(x.dim() == 4 && x.is_contiguous() && x.numel() > 0, "x must be a contiguous NCHW tensor");
    TORCH_CHECK(out_h >= 1 && out_h <= 65536 && out_w >= 1 && out_w <= 65536, "output size");
    const int64_t in_h = x.size(2), in_w = x.size(3);
    TORCH_CHECK(in_h <= 65536 && in_w <= 65536, "input size");
    auto out = torch::empty({x.size(0), x.size(1), out_h, out_w}, x.options());
    const int64_t total = out.numel();
    const int64_t wanted = (total + 255) / 256;
    const unsigned blocks = wanted < 65535 ? wanted : 65535;
    resize<<<blocks, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), total, in_h, in_w, out_h, out_w,
                            static_cast<float>(in_h) / out_h, static_cast<float>(in_w) / out_w);
    return out;
}
"""

ext = load_inline(
    name="nearest_resize",
    cpp_sources="torch::Tensor nearest_resize(torch::Tensor x, int64_t out_h, int64_t out_w);",
    cuda_sources=source,
    functions=["nearest_resize"],
)


class ModelNew(nn.Module):
    def __init__(self, out_h: int, out_w: int) -> None:
        super().__init__()
        self.size = (out_h, out_w)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ext.nearest_resize(x, *self.size)
