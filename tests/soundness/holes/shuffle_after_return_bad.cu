// Lanes past the end have left before a shuffle that names all 32.
#include <cuda_runtime.h>

__global__ void neighbour_sum(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float w = __shfl_down_sync(0xffffffff, v, 1);  //! refuted: barrier-divergence
    y[i] = v + w;
}

int main() {
    const int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    neighbour_sum<<<(n + 127) / 128, 128>>>(x, y, n);
    return cudaDeviceSynchronize();
}
