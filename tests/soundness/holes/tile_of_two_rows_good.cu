// A tile of 4 threads is a row of this block.
#include <cooperative_groups.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;

__global__ void rows(const float* x, float* y, int n) {
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int row = blockIdx.x * 32 + threadIdx.y, i = row * 4 + threadIdx.x;
    float v = 0.0f;
    if (row < n) {
        v = x[i];
        v += tile.shfl_xor(v, 1);
        y[i] = v;
    }
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "x");
    TORCH_CHECK(x.size(0) > 0 && x.size(0) <= (1 << 20) && x.size(1) == 4, "size");
    auto y = torch::empty_like(x);
    rows<<<(x.size(0) + 31) / 32, dim3(4, 32)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0));
    return y;
}
