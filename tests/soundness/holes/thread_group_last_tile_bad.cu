// The last tile of a block of 40 threads has 8 threads, not 16.
#include <cooperative_groups.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;

__global__ void sizes(float* y, int n) {
    __shared__ float s[40];
    auto block = cg::this_thread_block();
    cg::thread_group tile = cg::tiled_partition(block, 16);
    s[threadIdx.x] = 0.0f;
    block.sync();
    int k = tile.size() < 16 ? 40 : threadIdx.x;
    if (blockIdx.x < n) y[blockIdx.x * 40 + threadIdx.x] = s[k];  //! refuted: bounds-shared
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 20), "size");
    int n = x.numel();
    auto y = torch::empty({n, 40}, x.options());
    sizes<<<n, 40>>>(y.data_ptr<float>(), n);
    return y;
}
