// Many threads write the same value to one element.
#include <cuda_runtime.h>

__global__ void any_negative(const float* x, int* found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0.0f) found[0] = 1;  //! refuted: race-global
}

int main() {
    const int n = 1000;
    float* x;
    int* found;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&found, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(found, 0, n * sizeof(int));
    any_negative<<<(n + 127) / 128, 128>>>(x, found, n);
    return cudaDeviceSynchronize();
}
