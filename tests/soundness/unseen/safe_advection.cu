// Upwind advection on a plane: the neighbour against the wind, the cell itself at the border; a tile for the inner part.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void advect(const float* __restrict__ u, const float* __restrict__ wx, const float* __restrict__ wy,
                       float* __restrict__ out, int nx, int ny) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (nx > x && ny > y) {
        const int at = y * nx + x;
        float along = u[at], across = u[at];
        if (wx[at] < 0.0f) {
            if (nx > x + 1) along = u[at + 1];
        } else {
            if (x > 0) along = u[at - 1];
        }
        if (wy[at] < 0.0f) {
            if (ny > y + 1) across = u[at + nx];
        } else {
            if (y > 0) across = u[at - nx];
        }
        out[at] = u[at] - wx[at] * (u[at] - along) - wy[at] * (u[at] - across);
    }
}

__global__ void smooth(const float* __restrict__ u, float* __restrict__ out, int n) {
    __shared__ float cell[66];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 64 + t;
    cell[t + 1] = n > i ? u[i] : 0.0f;
    if (t == 0 && i > 0) cell[0] = u[i - 1];
    if (t == 0 && i == 0) cell[0] = 0.0f;
    if (t == 63) cell[65] = n > i + 1 ? u[i + 1] : 0.0f;
    __syncthreads();
    if (n > i) out[i] = 0.25f * cell[t] + 0.5f * cell[t + 1] + 0.25f * cell[t + 2];
}

int main() {
    const int nx = 400, ny = 300;
    float *u, *wx, *wy, *out;
    if (cudaMalloc(&u, nx * ny * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&wx, nx * ny * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&wy, nx * ny * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, nx * ny * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(u, 0, nx * ny * sizeof(float));
    cudaMemset(wx, 0, nx * ny * sizeof(float));
    cudaMemset(wy, 0, nx * ny * sizeof(float));
    advect<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(u, wx, wy, out, nx, ny);
    smooth<<<(nx * ny + 63) / 64, 64>>>(out, u, nx * ny);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
