// A library of C gets pointers by value; what it gets the address of is changed.
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void halve(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] *= 0.5f;  //! not proved: bounds-global
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
    cublasGetVersion(handle, &n);
    halve<<<(n + 255) / 256, 256>>>(y, n);
    return cudaDeviceSynchronize();
}
