// Rows of a large matrix are scaled, and a ramp is added; all indices are 64-bit.
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scale_rows(const float* x, const float* factor, float* y, int64_t rows, int64_t columns) {
    const int64_t column = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
        if (column < columns) {
            const int64_t at = row * columns + column;
            y[at] = x[at] * factor[row];
        }
    }
}

__global__ void add_ramp(const float* x, float* y, size_t n) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = x[i] + (float)i;
    }
}

void launch(const float* x, const float* factor, float* y, int64_t rows, int64_t columns) {
    dim3 grid((unsigned)((columns + 255) / 256), (unsigned)(rows < 1024 ? rows : 1024));
    scale_rows<<<grid, 256>>>(x, factor, y, rows, columns);
}

void ramp(const float* x, float* y, size_t n) {
    const size_t blocks = (n + 255) / 256;
    add_ramp<<<(unsigned)(blocks < 65535 ? blocks : 65535), 256>>>(x, y, n);
}

int main() {
    const int64_t rows = 3000, columns = 1000;
    float *x, *factor, *y;
    if (cudaMalloc(&x, rows * columns * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&y, rows * columns * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&factor, rows * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(x, 0, rows * columns * sizeof(float));
    cudaMemset(factor, 0, rows * sizeof(float));
    launch(x, factor, y, rows, columns);
    ramp(x, y, (size_t)(rows * columns));
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
