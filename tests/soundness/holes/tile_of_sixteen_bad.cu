// A tile has 16 lanes, the branch goes by 8 of them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;

__global__ void rows(const float* x, float* y, int n) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    if (threadIdx.x / 8 % 2 == 0) v = cg::reduce(tile, v, cg::plus<float>());  //! refuted: barrier-divergence
    if (i < n) y[i] = v;
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30), "size");
    auto y = torch::empty_like(x);
    rows<<<(x.numel() + 127) / 128, dim3(128)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
