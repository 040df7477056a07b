// Points are spread over the four cells around them, with bilinear weights.
#include <torch/extension.h>

__global__ void splat(const float* __restrict__ px, const float* __restrict__ py, float* __restrict__ grid,
                      int* __restrict__ lost, int points, int height, int width) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= points) return;
    const float x = px[p], y = py[p];
    if (!(x >= 0.0f && y >= 0.0f && x < 16000.0f && y < 16000.0f)) {
        atomicAdd(lost, 1);
        return;
    }
    const int column = static_cast<int>(x), row = static_cast<int>(y);
    const float fx = x - column, fy = y - row;
    if (row < height && column < width) atomicAdd(&grid[row * width + column], (1 - fx) * (1 - fy));
    if (row < height && column + 1 < width) atomicAdd(&grid[row * width + column + 1], fx * (1 - fy));
    if (row + 1 < height && column < width) atomicAdd(&grid[(row + 1) * width + column], (1 - fx) * fy);
    if (row + 1 < height && column + 1 < width) atomicAdd(&grid[(row + 1) * width + column + 1], fx * fy);
}

torch::Tensor run(torch::Tensor px, torch::Tensor py, int64_t height, int64_t width) {
    TORCH_CHECK(px.is_cuda() && py.is_cuda() && px.is_contiguous() && py.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(px.scalar_type() == torch::kFloat32 && py.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(px.numel() == py.numel() && px.numel() > 0 && px.numel() <= 1000000000, "points");
    TORCH_CHECK(height > 0 && width > 0 && height <= 16000 && width <= 16000, "grid");
    auto grid = torch::zeros({height, width}, px.options());
    auto lost = torch::zeros({1}, px.options().dtype(torch::kInt32));
    const int points = px.numel();
    splat<<<(points + 255) / 256, 256>>>(px.data_ptr<float>(), py.data_ptr<float>(), grid.data_ptr<float>(),
                                         lost.data_ptr<int>(), points, static_cast<int>(height),
                                         static_cast<int>(width));
    return grid;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
