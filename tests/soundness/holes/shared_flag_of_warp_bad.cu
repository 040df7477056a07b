// Each warp reads a flag of its own: they leave the loop in different rounds.
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, int n, float limit) {
    __shared__ float cells[256];
    __shared__ int done[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    cells[t] = i < n ? x[i] : 0.0f;
    if (t < 8) done[t] = 0;
    __syncthreads();
    for (int r = 0; r < 50; r++) {
        float v = 0.5f * (cells[t] + cells[t == 0 ? 255 : t - 1]);
        __syncthreads();
        cells[t] = v;
        if (t % 32 == 0 && v < limit) done[t / 32] = 1;
        __syncthreads();
        if (done[t / 32]) break;  //! not proved: barrier-divergence
        __syncthreads();
    }
    if (i < n) y[i] = cells[t];
}

int main() {
    int n = 1000;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    k<<<(n + 255) / 256, 256>>>(x, y, n, 0.1f);
    return cudaDeviceSynchronize();
}
