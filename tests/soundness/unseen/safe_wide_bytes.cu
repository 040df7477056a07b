// Rows of raw bytes with a pitch: addresses in bytes are 64-bit, sizes are ints.
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void invert(const unsigned char* in, unsigned char* out, int rows, int pitch, int width) {
    const int row = blockIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= width || column >= pitch) return;
    const size_t at = (size_t)row * pitch + column;
    out[at] = 255 - in[at];
}

__global__ void sum_planes(const unsigned char* in, unsigned char* out, int planes, int64_t plane) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= plane) return;
    int sum = 0;
    for (int p = 0; p < planes; p++) sum += in[(int64_t)p * plane + i];
    out[i] = (unsigned char)(sum & 255);
}

__global__ void reverse(const unsigned char* in, unsigned char* out, size_t bytes) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step) {
        const size_t from = bytes - 1 - i;
        out[i] = in[from];
    }
}

void process(const unsigned char* in, unsigned char* out, unsigned char* folded, int rows, int pitch) {
    if (rows > 65535 || pitch > 1000000) return;
    invert<<<dim3((pitch + 255) / 256, rows), 256>>>(in, out, rows, pitch, pitch);
    sum_planes<<<(pitch + 255) / 256, 256>>>(in, folded, rows, pitch);
    reverse<<<4096, 256>>>(in, out, (size_t)rows * pitch);
}

int main() {
    const int rows = 3000, pitch = 4096;
    unsigned char *in, *out, *folded;
    if (cudaMalloc(&in, (size_t)rows * pitch) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, (size_t)rows * pitch) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&folded, pitch) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(in, 0, (size_t)rows * pitch);
    process(in, out, folded, rows, pitch);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
