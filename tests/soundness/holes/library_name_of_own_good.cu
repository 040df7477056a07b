// A function of this program with a name like that of a library takes another pointer by reference.
#include <cublas_v2.h>
#include <cuda_runtime.h>

void cublasShrink(float *&y);

__global__ void halve(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] *= 0.5f;
}

int main() {
    int n = 1000, version = 0;
    float *x, *y;
    float one = 1.0f, zero = 0.0f;
    cublasHandle_t handle;
    cudaMalloc(&x, 1000 * sizeof(float));
    cudaMalloc(&y, 1000 * sizeof(float));
    cudaMemset(x, 0, 1000 * sizeof(float));
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 10, 100, 10, &one, x, 10, x, 10, &zero, y, 10);
    cublasShrink(x);
    halve<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
