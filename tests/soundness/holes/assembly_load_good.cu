// A load and a store in assembly.
#include <cuda_runtime.h>

__global__ void shifted(const float* x, float* y) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    asm volatile("st.global.f32 [%0], %1;" ::"l"(y + i), "f"(v) : "memory");
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    shifted<<<blocks, 256>>>(x, y);
    return cudaDeviceSynchronize();
}
