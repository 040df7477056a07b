// What is wrong with a table of offsets, as flags and counters in global memory that every thread may raise.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void inspect(const int* offsets, int* flags, int* decreasing, int* first_bad, int* last_bad, int rows,
                        int total) {
    const int row = threadIdx.x + blockDim.x * blockIdx.x;
    if (row >= rows) return;
    const int begin = offsets[row];
    const int end = offsets[row + 1];
    if (begin < 0 || end > total) {
        atomicOr(flags, 1);
        atomicMin(first_bad, row);
        atomicMax(last_bad, row);
    }
    if (end < begin) {
        atomicOr(flags, 2);
        atomicAdd(decreasing, 1);
    }
    if (row > 0 && offsets[row - 1] > begin) atomicExch(&flags[1], 1);
}

int main() {
    const int rows = 30000, total = 900000;
    int *offsets, *flags, *decreasing, *first_bad, *last_bad;
    if (cudaMalloc(&offsets, (rows + 1) * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&flags, 2 * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&decreasing, sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&first_bad, sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&last_bad, sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(offsets, 0, (rows + 1) * sizeof(int));
    cudaMemset(flags, 0, 2 * sizeof(int));
    cudaMemset(decreasing, 0, sizeof(int));
    cudaMemset(first_bad, 127, sizeof(int));
    cudaMemset(last_bad, 0, sizeof(int));
    inspect<<<(rows + 191) / 192, 192>>>(offsets, flags, decreasing, first_bad, last_bad, rows, total);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
