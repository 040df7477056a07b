// The struct that the kernel gets has the length of its tensor.
#include <torch/extension.h>

struct Row {
    float* data;
    int length;
};

__global__ void scale(Row row) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < row.length) row.data[i] *= 2.0f;
}

void run(torch::Tensor x, torch::Tensor y) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 20) && y.numel() <= (1 << 20), "size");
    Row row;
    row.data = x.data_ptr<float>();
    row.length = x.numel();
    scale<<<(row.length + 255) / 256, 256>>>(row);
}
