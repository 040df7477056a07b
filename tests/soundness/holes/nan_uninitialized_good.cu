// A shared cell is written if v < 0 and if v >= 0, and otherwise as well.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void signs(const float* x, int* out) {
    __shared__ int sign[64];
    int t = threadIdx.x;
    float v = x[blockIdx.x * 64 + t];
    if (v < 0.0f) sign[t] = -1;
    if (!(v < 0.0f)) sign[t] = 1;
    __syncthreads();
    out[blockIdx.x * 64 + t] = sign[63 - t];
}

int main() {
    const int blocks = 100;
    float* x;
    int* out;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&out, blocks * 64 * sizeof(int));
    std::vector<float> host(blocks * 64);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), blocks * 64 * sizeof(float), cudaMemcpyHostToDevice);
    signs<<<blocks, 64>>>(x, out);
    return cudaDeviceSynchronize();
}
