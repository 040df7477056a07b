// Patches of 3 x 3 become columns; outside of the image is zero.
#include <torch/extension.h>

__global__ void unfold(const float* __restrict__ x, float* __restrict__ columns, int channels, int height, int width) {
    const int total = channels * 9 * height * width;
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
        const int ox = i % width;
        const int oy = i / width % height;
        const int k = i / (width * height) % 9;
        const int c = i / (width * height) / 9;
        const int sx = ox + k % 3 - 1;
        const int sy = oy + k / 3 - 1;
        float v = 0.0f;
        if (sx >= 0 && sx < width && sy >= 0 && sy < height) v = x[(c * height + sy) * width + sx];
        columns[i] = v;
    }
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 3, "CHW float32");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= 100000000, "size");
    const int channels = x.size(0), height = x.size(1), width = x.size(2);
    auto columns = torch::empty({channels * 9, height * width}, x.options());
    const int blocks = std::min((channels * 9 * height * width + 255) / 256, 4096);
    unfold<<<blocks, 256>>>(x.data_ptr<float>(), columns.data_ptr<float>(), channels, height, width);
    return columns;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
