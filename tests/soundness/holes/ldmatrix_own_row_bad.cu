// Each lane names the row that it wrote itself, but the other lanes get it: without a barrier that is a race.
#include <cuda_runtime.h>

__global__ void rows(const float* x, float* y) {
    __shared__ __align__(16) unsigned s[128];
    int t = threadIdx.x, i = blockIdx.x * 256;
    for (int k = 0; k < 4; k++) {
        s[4 * t + k] = (unsigned)x[i + 4 * t + k];
    }
    unsigned a, b, c, d;
    unsigned address = (unsigned)__cvta_generic_to_shared(&s[4 * t]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  //! not proved: race-shared
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(address));
    y[i + t] = (float)(a + b + c + d);
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    rows<<<blocks, 32>>>(x, y);
    return cudaDeviceSynchronize();
}
