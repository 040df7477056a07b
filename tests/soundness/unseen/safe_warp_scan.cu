// Inclusive prefix sums of tiles of 256: shuffles inside a warp, the warps' totals through shared memory.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scan_tiles(const int* __restrict__ in, int* __restrict__ out, int* __restrict__ totals, int n) {
    __shared__ int sums[8];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int i = blockIdx.x * 256 + threadIdx.x;
    int v = i < n ? in[i] & 1023 : 0;
    for (int d = 1; d < 32; d <<= 1) {
        const int other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += other;
    }
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = lane < 8 ? sums[lane] : 0;
        for (int d = 1; d < 8; d <<= 1) {
            const int other = __shfl_up_sync(0xffffffffu, s, d);
            if (lane >= d) s += other;
        }
        if (lane < 8) sums[lane] = s;
    }
    __syncthreads();
    if (warp > 0) v += sums[warp - 1];
    if (i < n) out[i] = v;
    if (threadIdx.x == 255) totals[blockIdx.x] = v;
}

int main() {
    const int n = 100000, blocks = (n + 255) / 256;
    int *in, *out, *totals;
    if (cudaMalloc(&in, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&totals, blocks * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(in, 1, n * sizeof(int));
    scan_tiles<<<blocks, 256>>>(in, out, totals, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
