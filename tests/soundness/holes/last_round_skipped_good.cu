// The last round of a loop writes what is read after it.
#include <cuda_runtime.h>

__global__ void work(const float* a, float* y, int n) {
    __shared__ float even[128], odd[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float *p = even, *q = odd;
    q[t] = i < n ? a[i] : 0.0f;
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        if (n > 0) p[t] = q[(t + 1) % 128];
        float* last = p;
        p = q;
        q = last;
    }
    if (i < n) y[i] = q[t];
}

int main() {
    const int n = 1;
    float *a, *y;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(a, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(a, y, n);
    return cudaDeviceSynchronize();
}
