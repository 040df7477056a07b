// Neither v < 0 nor v >= 0 holds for a NaN; the else branch takes it.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void classify(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    int bin = 2;
    if (v < 0.0f) bin = 0;
    else bin = 1;
    out[2 * (size_t)i + bin] = v;
}

int main() {
    const int n = 1000;
    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, (size_t)n * 2 * sizeof(float));
    std::vector<float> host(n);
    if (std::fread(host.data(), sizeof(float), host.size(), stdin) != host.size()) return 1;
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    classify<<<(n + 127) / 128, 128>>>(x, out, n);
    return cudaDeviceSynchronize();
}
