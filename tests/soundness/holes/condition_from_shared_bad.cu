// A barrier under a condition read from shared memory: a cell of each thread's own.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void maybe_reverse(const float* x, float* y) {
    __shared__ float flag[64];
    __shared__ float tile[64];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    flag[t] = x[i];
    __syncthreads();
    float v = x[i];
    if (flag[t] > 0.0f) {
        tile[t] = v;
        __syncthreads();  //! refuted: barrier-divergence
        v = tile[63 - t];
    }
    y[i] = v;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&y, blocks * 64 * sizeof(float));
    std::vector<float> host(blocks * 64);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), blocks * 64 * sizeof(float), cudaMemcpyHostToDevice);
    maybe_reverse<<<blocks, 64>>>(x, y);
    return cudaDeviceSynchronize();
}
