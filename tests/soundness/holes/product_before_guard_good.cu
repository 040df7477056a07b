// The product may wrap before the guard, but its value is used only behind the guard: no fault.
#include <torch/extension.h>

__global__ void scale(float* x, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int first = row * cols;
    if (row < rows) {
        for (int c = 0; c < cols; ++c) x[first + c] *= 2.0f;
    }
}

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.numel() <= (1LL << 30), "shape");
    const int rows = x.size(0);
    const int cols = x.size(1);
    scale<<<(rows + 63) / 64, 64>>>(x.data_ptr<float>(), rows, cols);
}
