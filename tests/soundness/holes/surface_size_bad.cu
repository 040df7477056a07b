// The surface may be smaller than the grid.
#include <torch/extension.h>

__global__ void paint(cudaSurfaceObject_t image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) surf2Dwrite(float(y), image, x * 4, y);  //! not proved: bounds-global
}

void run(int64_t handle, int64_t width, int64_t height) {
    TORCH_CHECK(width > 0 && width <= 4096 && height > 0 && height <= 4096, "size");
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    paint<<<grid, block>>>(static_cast<cudaSurfaceObject_t>(handle), width, height);
}
