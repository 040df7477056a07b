// Rows and columns are exchanged: the row is bounded by the second size.
#include <torch/extension.h>

__global__ void scale(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> a) {
    int row = blockIdx.x * 32 + threadIdx.x;
    if (row < a.size(1)) a[row][0] *= 2.0f;  //! refuted: bounds-global
}

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.numel() <= (1 << 20), "size");
    scale<<<(x.size(1) + 31) / 32, 32>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
}
