// The predicate is turned round: the load is done exactly where it must not.
#include <cuda_runtime.h>

__global__ void even(const float* x, float* y) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = 0.0f;
    asm volatile("{ .reg .pred p; setp.eq.b32 p, %2, 0; @p ld.global.f32 %0, [%1]; }"  //! not proved: bounds-global
                 : "+f"(v)
                 : "l"(x + 2 * i), "r"((int)(2 * i < 25600)));
    y[i] = v;
}

int main() {
    const int blocks = 100;
    float *x, *y;
    cudaMalloc(&x, blocks * 256 * sizeof(float));
    cudaMalloc(&y, blocks * 256 * sizeof(float));
    cudaMemset(x, 0, blocks * 256 * sizeof(float));
    even<<<blocks, 256>>>(x, y);
    return cudaDeviceSynchronize();
}
