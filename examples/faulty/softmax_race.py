"""Softmax over the last axis of a matrix, one block a row.

The scratch array is reused for the sum while slow threads may still read the maximum from it.
"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

softmax_source = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cmath>

constexpr int BLOCK = 256;

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int64_t cols) {
    __shared__ float scratch[BLOCK];
    const int t = threadIdx.x;
    const float* row_in = x + blockIdx.x * cols;
    float* row_out = y + blockIdx.x * cols;

    float peak = -INFINITY;
    for (int64_t c = t; c < cols; c += BLOCK) {
        peak = fmaxf(peak, row_in[c]);
    }
    scratch[t] = peak;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s) {
            scratch[t] = fmaxf(scratch[t], scratch[t + s]);
        }
        __syncthreads();
    }
    peak = scratch[0];

    float sum = 0.0f;
    for (int64_t c = t; c < cols; c += BLOCK) {
        sum += expf(row_in[c] - peak);
    }
    scratch[t] = sum;  //! refuted: race-shared
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s) {
            scratch[t] += scratch[t + s];
        }
        __syncthreads();
    }
    const float inverse = 1.0f / scratch[0];

    for (int64_t c = t; c < cols; c += BLOCK) {
        row_out[c] = expf(row_in[c] - peak) * inverse;
    }
}

torch::Tensor softmax_forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");
    TORCH_CHECK(x.dim() == 2, "x must be a matrix");
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    const int64_t rows = x.size(0);
    const int64_t cols = x.size(1);
    TORCH_CHECK(rows <= 2147483647, "too many rows for one launch");

    auto y = torch::empty_like(x);
    if (rows == 0 || cols == 0) {
        return y;
    }
    softmax_rows<<<static_cast<unsigned int>(rows), BLOCK>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
    return y;
}
"""

softmax_cpp_source = "torch::Tensor softmax_forward(torch::Tensor x);"

softmax_extension = load_inline(
    name="softmax_extension",
    cpp_sources=softmax_cpp_source,
    cuda_sources=softmax_source,
    functions=["softmax_forward"],
    extra_cuda_cflags=["-O3"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softmax_extension.softmax_forward(x.contiguous())
