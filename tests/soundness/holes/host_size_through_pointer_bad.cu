// A helper of the host changes a size through a pointer to an array; the kernel gets the changed one.
#include <torch/extension.h>

__global__ void scale(float* x, int count) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < count) x[i] *= 2.0f;  //! refuted: bounds-global
}

void grow(int* sizes) { sizes[0] *= 2; }

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 20), "size");
    int sizes[2] = {static_cast<int>(x.numel()), static_cast<int>(x.numel())};
    grow(sizes);
    scale<<<(sizes[0] + 255) / 256, 256>>>(x.data_ptr<float>(), sizes[0]);
}
