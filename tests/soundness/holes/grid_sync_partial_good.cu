// Partial sums of all blocks, added up by the first one after a barrier of the grid.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void total(const float* x, float* part, float* y, int n) {
    __shared__ float cells[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += x[i];
    cells[t] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) cells[t] += cells[t + d];
        __syncthreads();
    }
    if (t == 0) part[blockIdx.x] = cells[0];
    cg::this_grid().sync();
    if (blockIdx.x == 0 && t == 0) {
        float all = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) all += part[b];
        *y = all;
    }
}

int main() {
    int n = 100000;
    float *x, *part, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&part, 64 * sizeof(float));
    cudaMalloc(&y, sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    void* args[] = {&x, &part, &y, &n};
    cudaLaunchCooperativeKernel((void*)total, dim3(64), dim3(256), args, 0, 0);
    return cudaDeviceSynchronize();
}
