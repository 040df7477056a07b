// Matrix transpose through a padded 64 x 64 tile, one thread an element: more threads than a block can have.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int TILE = 64;
constexpr int BLOCK_ROWS = 64;

__global__ void transpose(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += BLOCK_ROWS) {
        if (x < cols && y + j < rows) {
            tile[threadIdx.y + j][threadIdx.x] = in[static_cast<size_t>(y + j) * cols + x];
        }
    }
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += BLOCK_ROWS) {
        if (x < rows && y + j < cols) {
            out[static_cast<size_t>(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}

int main() {
    const int rows = 1000;
    const int cols = 1500;
    const size_t bytes = static_cast<size_t>(rows) * cols * sizeof(float);

    std::vector<float> host(static_cast<size_t>(rows) * cols);
    for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);

    float *in, *out;
    if (cudaMalloc(&in, bytes) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, bytes) != cudaSuccess) return EXIT_FAILURE;
    cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);

    const dim3 block(TILE, BLOCK_ROWS);
    const dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    if (grid.y > 65535) return EXIT_FAILURE;
    transpose<<<grid, block>>>(in, out, rows, cols);  //! refuted: launch

    cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost);
    std::printf("out[1] = %f (want %d)\n", host[1], cols);
    cudaFree(in);
    cudaFree(out);
    return EXIT_SUCCESS;
}
