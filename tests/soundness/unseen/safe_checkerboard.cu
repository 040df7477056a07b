// Red-black smoothing: the cells of one colour are renewed from those of the other, rows wrap around.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relax(float* u, const float* f, int height, int width, int colour) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height * width) return;
    const int row = i / width;
    const int column = i % width;
    if ((row + column) % 2 != colour) return;
    const int before = (row + height - 1) % height;
    const int after = (row + 1) % height;
    if (column < 1 || column >= width - 1 || height % 2 != 0) return;
    const float around = u[before * width + column] + u[after * width + column] + u[row * width + column - 1]
                         + u[row * width + column + 1];
    u[row * width + column] = 0.25f * (around - f[row * width + column]);
}

int main() {
    const int height = 512, width = 512;
    float *u, *f;
    if (cudaMalloc(&u, height * width * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&f, height * width * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(u, 0, height * width * sizeof(float));
    cudaMemset(f, 0, height * width * sizeof(float));
    const int cells = height * width;
    for (int sweep = 0; sweep < 20; sweep++) {
        relax<<<(cells + 255) / 256, 256>>>(u, f, height, width, 0);
        relax<<<(cells + 255) / 256, 256>>>(u, f, height, width, 1);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
