// The group that waits is a tile of the block.
#include <cooperative_groups.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;

__device__ float total(cg::thread_group all, cg::thread_group waiting, float* s, float v) {
    int rank = all.thread_rank();
    for (int i = all.size() / 2; i > 0; i /= 2) {
        s[rank] = v;
        waiting.sync();
        if (rank < i) v += s[rank + i];  //! refuted: race-shared
        waiting.sync();
    }
    return v;
}

__global__ void sums(const float* x, float* y, int n) {
    __shared__ float s[256];
    auto block = cg::this_thread_block();
    cg::thread_group tile = cg::tiled_partition(block, 32);
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = total(block, tile, s, i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30), "size");
    int blocks = (x.numel() + 255) / 256;
    auto y = torch::empty({blocks}, x.options());
    sums<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
