// Box blur of an image: neighbours outside of it are those at its edge.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void blur(const unsigned char* in, unsigned char* out, int width, int height, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
    int count = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int sx = x + dx;
            int sy = y + dy;
            if (sx < 0) sx = 0;
            if (sy < 0) sy = 0;
            if (sx > width - 1) sx = width - 1;
            if (sy > height - 1) sy = height - 1;
            sum += in[sy * width + sx];
            count++;
        }
    }
    out[y * width + x] = sum / count;
}

__global__ void edges(const unsigned char* in, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int here = in[y * width + x];
    int left = here, up = here;
    if (x > 0) left = in[y * width + x - 1];
    if (y > 0) up = in[(y - 1) * width + x];
    int corner = 0 < x && y > 0 ? in[(y - 1) * width + x - 1] : here;
    int d = here * 3 - left - up - corner;
    out[y * width + x] = d < 0 ? 0 : d > 255 ? 255 : d;
}

int main() {
    const int width = 800, height = 600;
    unsigned char *a, *b;
    if (cudaMalloc(&a, width * height) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&b, width * height) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(a, 100, width * height);
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    blur<<<grid, block>>>(a, b, width, height, 2);
    edges<<<grid, block>>>(b, a, width, height);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
