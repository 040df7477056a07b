// Lanes of a 2-D block are numbered along x first: rows 2k+1 and 2k+2 lie in different warps.
#include <cuda_runtime.h>

__global__ void swap_rows(const float* x, float* y) {
    __shared__ float tile[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.x * 256 + ty * 16 + tx;
    tile[ty][tx] = x[i];
    __syncwarp();
    y[i] = tile[(ty + 1) % 16][tx];  //! refuted: race-shared
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    swap_rows<<<blocks, dim3(16, 16)>>>(x, y);
    return cudaDeviceSynchronize();
}
