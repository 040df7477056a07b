// Repeats a small pattern over a large matrix and adds a bias by diagonal.
#include <torch/extension.h>

__global__ void tile(const float* __restrict__ pattern, const float* __restrict__ bias, float* __restrict__ out,
                     int height, int width, int ph, int pw, int diagonals) {
    const int total = height * width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int row = i / width;
        const int column = i % width;
        const int d = (row + column) % diagonals;
        out[i] = pattern[row % ph * pw + column % pw] + bias[d];
    }
}

torch::Tensor run(torch::Tensor pattern, torch::Tensor bias, int64_t height, int64_t width) {
    TORCH_CHECK(pattern.is_cuda() && bias.is_cuda() && pattern.is_contiguous() && bias.is_contiguous(), "CUDA");
    TORCH_CHECK(pattern.scalar_type() == torch::kFloat32 && bias.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(pattern.dim() == 2 && pattern.numel() > 0 && bias.numel() > 0, "not empty");
    TORCH_CHECK(pattern.size(0) <= 30000 && pattern.size(1) <= 30000 && bias.numel() <= 100000, "pattern");
    TORCH_CHECK(height > 0 && width > 0 && height <= 30000 && width <= 30000, "size");
    auto out = torch::empty({height, width}, pattern.options());
    const int blocks = std::min<int>((height * width + 255) / 256, 2048);
    tile<<<blocks, 256>>>(pattern.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(),
                          static_cast<int>(height), static_cast<int>(width), static_cast<int>(pattern.size(0)),
                          static_cast<int>(pattern.size(1)), static_cast<int>(bias.numel()));
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
