// Each call makes a stream of its own: nothing orders the two launches, which write the same memory.
#include <cuda_runtime.h>

__global__ void fill(float* out, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;  //! not proved: race-global
}

cudaStream_t make() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    return stream;
}

int main() {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    cudaStream_t first = make(), second = make();
    fill<<<(n + 255) / 256, 256, 0, first>>>(y, n, 1.0f);
    fill<<<(n + 255) / 256, 256, 0, second>>>(y, n, 2.0f);
    return cudaDeviceSynchronize();
}
