// Softmax of a row in one pass: maximum and sum are joined by a function of a pair.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;

struct Partial {
    float top, sum;
};

__device__ __forceinline__ Partial join(Partial a, Partial b) {
    const Partial low = a.top < b.top ? a : b, high = a.top < b.top ? b : a;
    return {high.top, high.sum + low.sum * expf(low.top - high.top)};
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int width) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    const float* in = x + static_cast<size_t>(row) * width;
    float* out = y + static_cast<size_t>(row) * width;
    Partial mine = {-INFINITY, 0.0f};
    for (int i = warp.thread_rank(); i < width; i += warp.size()) mine = join(mine, {in[i], 1.0f});
    const Partial all = cg::reduce(warp, mine, [](Partial a, Partial b) { return join(a, b); });
    for (int i = warp.thread_rank(); i < width; i += warp.size()) out[i] = expf(in[i] - all.top) / all.sum;
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 2 && x.numel() > 0, "x");
    TORCH_CHECK(x.size(0) <= (1 << 24) && x.size(1) <= (1 << 20), "size");
    auto y = torch::empty_like(x);
    softmax<<<(x.size(0) + 7) / 8, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
