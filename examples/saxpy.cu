// saxpy: y <- a * x + y, one thread an element.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

int main() {
    const int n = 1 << 20;
    const int block = 256;
    const int grid = (n + block - 1) / block;

    std::vector<float> host_x(n, 1.0f), host_y(n, 2.0f);
    float* x = nullptr;
    float* y = nullptr;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&y, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemcpy(x, host_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, host_y.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    saxpy<<<grid, block>>>(n, 3.0f, x, y);

    cudaMemcpy(host_y.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("y[0] = %f (want 5)\n", host_y[0]);
    cudaFree(x);
    cudaFree(y);
    return EXIT_SUCCESS;
}
