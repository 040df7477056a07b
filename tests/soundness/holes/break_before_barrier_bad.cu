// A thread leaves the loop on its own data, before the others' barrier.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void search(const float* x, float* y, int rounds) {
    __shared__ float scratch[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k) {
        float v = x[(size_t)k * 64 + t];
        if (v < 0.0f) break;
        scratch[t] = v;
        __syncthreads();  //! refuted: barrier-divergence
        sum += scratch[63 - t];
        __syncthreads();
    }
    y[t] = sum;
}

int main() {
    const int rounds = 20;
    float *x, *y;
    cudaMalloc(&x, (size_t)rounds * 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    std::vector<float> host((size_t)rounds * 64);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), (size_t)rounds * 64 * sizeof(float), cudaMemcpyHostToDevice);
    search<<<1, 64>>>(x, y, rounds);
    return cudaDeviceSynchronize();
}
