// Two buffers and `b ^= 1` need one barrier an iteration and have none.
#include <cuda_runtime.h>

__global__ void smooth(const float* x, float* y, int steps) {
    __shared__ float buffer[2][128];
    int t = threadIdx.x;
    int b = 0;
    float sum = 0.0f;
    for (int k = 0; k < steps; ++k) {
        buffer[b][t] = x[(size_t)k * 128 + t];
        sum += buffer[b][(t + 1) % 128];  //! refuted: race-shared
        b ^= 1;
    }
    y[t] = sum;
}

int main() {
    const int steps = 50;
    float *x, *y;
    cudaMalloc(&x, (size_t)steps * 128 * sizeof(float));
    cudaMalloc(&y, 128 * sizeof(float));
    cudaMemset(x, 0, (size_t)steps * 128 * sizeof(float));
    smooth<<<1, 128>>>(x, y, steps);
    return cudaDeviceSynchronize();
}
