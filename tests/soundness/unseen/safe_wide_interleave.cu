// Two matrices are interleaved by rows, split again, and mirrored; all places are 64-bit.
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void interleave(const float* a, const float* b, float* out, int rows, int columns) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = blockIdx.y;
    if (c >= columns || r >= rows) return;
    const int64_t from = (int64_t)r * columns + c;
    const int64_t even = (int64_t)(2 * r) * columns + c;
    const int64_t odd = even + columns;
    out[even] = a[from];
    out[odd] = b[from];
}

__global__ void mirror(const float* in, float* out, int rows, int columns) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = blockIdx.y;
    if (c >= columns || r >= rows) return;
    const int64_t start = (int64_t)r * columns;
    const int64_t from = start + columns - 1 - c;
    const int64_t to = start + c;
    out[to] = in[from];
}

void process(const float* a, const float* b, float* both, float* back, int rows, int columns) {
    if (rows > 65535 || columns > 1000000) return;
    const dim3 grid((columns + 255) / 256, rows);
    interleave<<<grid, 256>>>(a, b, both, rows, columns);
    mirror<<<grid, 256>>>(a, back, rows, columns);
}

int main() {
    const int rows = 2000, columns = 3000;
    const size_t bytes = (size_t)rows * columns * sizeof(float);
    float *a, *b, *both, *back;
    if (cudaMalloc(&a, bytes) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&b, bytes) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&both, 2 * bytes) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&back, bytes) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    process(a, b, both, back, rows, columns);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
