// A byte offset beyond 2^31 is kept in a size_t.
#include <cuda_runtime.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        size_t offset = i * sizeof(float);
        *reinterpret_cast<float*>(reinterpret_cast<char*>(y) + offset) = 1.0f;
    }
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    fill<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
