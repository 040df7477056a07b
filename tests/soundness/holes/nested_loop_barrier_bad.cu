// A barrier in two loops: the inner one makes more rounds in one half of the block.
#include <cuda_runtime.h>

__global__ void work(const float* a, float* y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = 0.0f;
    for (int k = 2; k <= 64; k += k) {
        for (int j = k / 2; j > t / 64; j /= 2) {
            __syncthreads();  //! refuted: barrier-divergence
        }
    }
    if (i < n) y[i] = a[i] + s[t];
}

int main() {
    const int n = 1000;
    float *a, *y;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(a, 63, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(a, y, n);
    return cudaDeviceSynchronize();
}
