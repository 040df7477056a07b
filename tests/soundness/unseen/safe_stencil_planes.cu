// Seven-point stencil in a volume: a plane with halo in shared memory, the planes above and below in registers.
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int BX = 16, BY = 8;

__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
    __shared__ float plane[BY + 2][BX + 2];
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool inside = x < nx && y < ny;
    float below = 0.0f;
    float here = inside ? in[y * nx + x] : 0.0f;
    for (int z = 0; z < nz; z++) {
        const float above = inside && z + 1 < nz ? in[((z + 1) * ny + y) * nx + x] : 0.0f;
        plane[ty][tx] = here;
        if (threadIdx.x == 0) plane[ty][0] = x > 0 && y < ny ? in[(z * ny + y) * nx + x - 1] : 0.0f;
        if (threadIdx.x == BX - 1) plane[ty][BX + 1] = x + 1 < nx && y < ny ? in[(z * ny + y) * nx + x + 1] : 0.0f;
        if (threadIdx.y == 0) plane[0][tx] = y > 0 && x < nx ? in[(z * ny + y - 1) * nx + x] : 0.0f;
        if (threadIdx.y == BY - 1) plane[BY + 1][tx] = y + 1 < ny && x < nx ? in[(z * ny + y + 1) * nx + x] : 0.0f;
        __syncthreads();
        if (inside) {
            out[(z * ny + y) * nx + x] = below + above + plane[ty - 1][tx] + plane[ty + 1][tx] + plane[ty][tx - 1]
                                         + plane[ty][tx + 1] - 6.0f * here;
        }
        __syncthreads();
        below = here;
        here = above;
    }
}

int main() {
    const int nx = 100, ny = 90, nz = 80;
    float *in, *out;
    if (cudaMalloc(&in, nx * ny * nz * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, nx * ny * nz * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(in, 0, nx * ny * nz * sizeof(float));
    stencil<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY), dim3(BX, BY)>>>(in, out, nx, ny, nz);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
