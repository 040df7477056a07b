// The guard looks at a product that has wrapped: negative numbers pass it.
#include <cuda_runtime.h>

__global__ void scatter(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = i * 5000;  //! refuted: overflow
    if (j < n) {
        y[j] = 1.0f;
    }
}

int main() {
    const int n = 1 << 22;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    scatter<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
