// The distance of the exchange differs by thread: two threads have one partner.
#include <cuda_runtime.h>

__global__ void work(const float* a, float* y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? a[i] : 0.0f;
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        int other = t ^ ((k + t) % 128);
        if (other > t && other < 128) {
            float v = s[t];
            s[t] = s[other];
            s[other] = v;  //! refuted: race-shared
        }
        __syncthreads();
    }
    if (i < n) y[i] = s[t];
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
