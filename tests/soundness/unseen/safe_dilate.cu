// Dilation and erosion of a mask by a cross, out of a tile with a border of one.
#include <torch/extension.h>

constexpr int W = 32, H = 8;

__global__ void dilate(const int* __restrict__ in, int* __restrict__ grown, int* __restrict__ shrunk, int height, int width) {
    __shared__ int tile[H + 2][W + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * W + threadIdx.x;
    const int y = blockIdx.y * H + threadIdx.y;
    const bool inside = width > x && height > y;
    tile[ty][tx] = inside ? in[y * width + x] : 0;
    if (threadIdx.x == 0) tile[ty][0] = x > 0 && height > y ? in[y * width + x - 1] : 0;
    if (threadIdx.x == W - 1) tile[ty][W + 1] = width > x + 1 && height > y ? in[y * width + x + 1] : 0;
    if (threadIdx.y == 0) tile[0][tx] = y > 0 && width > x ? in[(y - 1) * width + x] : 0;
    if (threadIdx.y == H - 1) tile[H + 1][tx] = height > y + 1 && width > x ? in[(y + 1) * width + x] : 0;
    __syncthreads();
    if (!inside) return;
    const int most = max(max(tile[ty - 1][tx], tile[ty + 1][tx]), max(tile[ty][tx - 1], tile[ty][tx + 1]));
    const int least = min(min(tile[ty - 1][tx], tile[ty + 1][tx]), min(tile[ty][tx - 1], tile[ty][tx + 1]));
    grown[y * width + x] = max(most, tile[ty][tx]);
    shrunk[y * width + x] = min(least, tile[ty][tx]);
}

std::vector<torch::Tensor> run(torch::Tensor in) {
    TORCH_CHECK(in.is_cuda() && in.is_contiguous() && in.scalar_type() == torch::kInt32 && in.dim() == 2, "int32 mask");
    TORCH_CHECK(in.size(0) > 0 && in.size(1) > 0 && in.size(0) <= 30000 && in.size(1) <= 30000, "size");
    const int height = in.size(0), width = in.size(1);
    auto grown = torch::empty_like(in);
    auto shrunk = torch::empty_like(in);
    dim3 grid((width + W - 1) / W, (height + H - 1) / H);
    dilate<<<grid, dim3(W, H)>>>(in.data_ptr<int>(), grown.data_ptr<int>(), shrunk.data_ptr<int>(), height, width);
    return {grown, shrunk};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
