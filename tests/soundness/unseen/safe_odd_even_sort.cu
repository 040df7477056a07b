// Chunks of 64 numbers are sorted by odd-even exchange, one warp pair a chunk; then chunk heads are compared.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void sort_chunks(int* data, int n) {
    __shared__ int cell[64];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 64 + t;
    cell[t] = n > i ? data[i] : 2147483647;
    __syncthreads();
    for (int round = 64; round > 0; round--) {
        const int a = 2 * t + (round & 1);
        if (63 > a) {
            const int low = cell[a], high = cell[a + 1];
            if (low > high) {
                cell[a] = high;
                cell[a + 1] = low;
            }
        }
        __syncthreads();
    }
    if (n > i) data[i] = cell[t];
}

__global__ void steps(const int* data, int* up, int n) {
    __shared__ int cell[64];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 64 + t;
    cell[t] = n > i ? data[i] : 0;
    __syncthreads();
    int before = 0;
    if (t > 0) before = cell[t - 1];
    else if (i > 0 && n > i) before = data[i - 1];
    if (n > i) up[i] = cell[t] - before > 0 ? 1 : 0;
}

int main() {
    const int n = 100000;
    int *data, *up;
    if (cudaMalloc(&data, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&up, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(data, 0, n * sizeof(int));
    sort_chunks<<<(n + 63) / 64, 64>>>(data, n);
    steps<<<(n + 63) / 64, 64>>>(data, up, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
