// The barrier is passed in the first round only: later rounds are not ordered.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void smooth(float* a, float* b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        if (i < n) b[i] = a[i];
        if (s == 0) grid.sync();
        if (i < n) a[i] = b[i == 0 ? n - 1 : i - 1];  //! refuted: race-global
    }
}

int main() {
    int n = 1024, steps = 8;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    cudaMemset(b, 0, n * sizeof(float));
    void* args[] = {&a, &b, &n, &steps};
    cudaLaunchCooperativeKernel((void*)smooth, dim3(8), dim3(128), args, 0, 0);
    return cudaDeviceSynchronize();
}
