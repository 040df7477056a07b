// Five-point stencil on a torus.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void torus(const float* __restrict__ in, float* __restrict__ out, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    int left = (column + width - 1) % width;
    int right = (column + 1) % width;
    int up = (row + height - 1) % height;
    int down = (row + 1) % height;
    float around = in[row * width + left] + in[row * width + right] + in[up * width + column] + in[down * width + column];
    out[row * width + column] = 0.5f * in[row * width + column] + 0.125f * around;
}

int main() {
    const int height = 700, width = 900;
    float *a, *b;
    if (cudaMalloc(&a, height * width * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&b, height * width * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(a, 0, height * width * sizeof(float));
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    for (int step = 0; step < 10; step++) {
        torus<<<grid, block>>>(a, b, height, width);
        torus<<<grid, block>>>(b, a, height, width);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
