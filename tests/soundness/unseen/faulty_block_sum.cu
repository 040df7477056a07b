// Sum of each block's 128 elements: all 32 lanes read the warps' cells, of which only four were written.
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void block_sum(const float* x, float* sums, int n) {
    __shared__ float cells[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if (lane == 0) cells[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = cells[lane];  //! refuted: uninitialized
        for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
        if (lane == 0) sums[blockIdx.x] = v;
    }
}

int main() {
    const int n = 100000;
    const int blocks = (n + 127) / 128;
    float *x, *sums;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&sums, blocks * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    std::vector<float> host(n, 1.0f);
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    block_sum<<<blocks, 128>>>(x, sums, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
