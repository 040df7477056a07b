// The guard looks at a product that cannot wrap.
#include <cuda_runtime.h>

__global__ void scatter(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long j = i * 5000LL;
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
