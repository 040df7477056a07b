// The host stores to managed memory: what it was set to before is gone.
#include <cuda_runtime.h>

__global__ void gather(const int *at, const float *x, float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = x[at[i]];  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    int *at;
    float *x, *y;
    cudaMallocManaged(&at, n * sizeof(int));
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    cudaMemset(at, 0, n * sizeof(int));
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) x[i] = 1.0f;
    for (int i = 0; i < n; i++) at[i] = 2 * i;
    gather<<<(n + 255) / 256, 256>>>(at, x, y, n);
    return cudaDeviceSynchronize();
}
