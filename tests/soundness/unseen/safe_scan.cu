// Inclusive prefix sum of each block's 256 elements (Hillis and Steele), with two buffers that change roles.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int BLOCK = 256;

__global__ void scan(const int* in, int* out, int n) {
    __shared__ int buffer[2][BLOCK];
    const int t = threadIdx.x;
    const long long i = (long long)blockIdx.x * BLOCK + t;
    int side = 0;
    buffer[side][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int reach = 1; reach < BLOCK; reach *= 2) {
        int v = buffer[side][t];
        if (t >= reach) v += buffer[side][t - reach];
        side = 1 - side;
        buffer[side][t] = v;
        __syncthreads();
    }
    if (i < n) out[i] = buffer[side][t];
}

int main() {
    const int n = 100000;
    int *in, *out;
    if (cudaMalloc(&in, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&out, n * sizeof(int)) != cudaSuccess) return EXIT_FAILURE;
    std::vector<int> host(n, 1);
    cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
    cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[BLOCK - 1]);
    return EXIT_SUCCESS;
}
