// Prefix sum in one buffer: a cell is overwritten while its neighbour still has to read the old value.
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void scan(const int* in, int* out) {
    __shared__ int cell[128];
    int t = threadIdx.x;
    cell[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int d = 1; d < 128; d <<= 1) {
        if (t >= d) {
            cell[t] += cell[t - d];  //! refuted: race-shared
        }
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = cell[t];
}

int main() {
    const int blocks = 64;
    int *in, *out;
    if (cudaMalloc(&in, blocks * 128 * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, blocks * 128 * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    std::vector<int> host(blocks * 128, 1);
    cudaMemcpy(in, host.data(), blocks * 128 * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<blocks, 128>>>(in, out);
    cudaMemcpy(host.data(), out, blocks * 128 * sizeof(int), cudaMemcpyDeviceToHost);
    return host[127] == 128 ? EXIT_SUCCESS : EXIT_FAILURE;
}
