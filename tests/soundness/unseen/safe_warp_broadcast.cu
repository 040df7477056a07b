// Outer product with the factors of 32 columns handed around a warp; a cell of shared memory a warp for the next step.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void outer(const float* left, const float* right, float* out, int rows, int columns) {
    __shared__ float cells[4][32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int row = blockIdx.x * 4 + warp;
    for (int base = 0; base < columns; base += 32) {
        const float mine = base + lane < columns ? right[base + lane] : 0.0f;
        cells[warp][lane] = row < rows ? mine * left[row] : 0.0f;
        __syncwarp(0xffffffffu);
        const float next = cells[warp][(lane + 1) % 32];
        const float first = __shfl_sync(0xffffffffu, mine, 0);
        if (row < rows && base + lane < columns) out[row * columns + base + lane] = next + first;
        __syncwarp(0xffffffffu);
    }
}

int main() {
    const int rows = 1000, columns = 500;
    float *left, *right, *out;
    if (cudaMalloc(&left, rows * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&right, columns * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, rows * columns * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(left, 0, rows * sizeof(float));
    cudaMemset(right, 0, columns * sizeof(float));
    outer<<<(rows + 3) / 4, 128>>>(left, right, out, rows, columns);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
