// An array of pointers: every element is written by its own thread, whichever it is.
#include <cuda_runtime.h>

__global__ void work(float* a, float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* out[3] = {a, b, y};
    out[2] = y + 0;
    if (i < n) {
        for (int j = 0; j < 3; ++j) out[j][i] = 1.0f;
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
