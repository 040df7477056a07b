// An array of pointers, one of which points to the neighbour's element.
#include <cuda_runtime.h>

__global__ void work(float* a, float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* out[3] = {a, b, y};
    out[1] = y + (i + 1 < n ? 1 : 0);
    if (i < n) {
        for (int j = 0; j < 3; ++j) out[j][i] = 1.0f;  //! refuted: race-global
    }
}

int main() {
    const int n = 1000;
    float *a, *b, *y;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(a, 63, n * sizeof(float));
    cudaMemset(b, 63, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(a, b, y, n);
    return cudaDeviceSynchronize();
}
