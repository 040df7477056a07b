// Each round makes a stream of its own: nothing orders the rounds, which write the same memory.
#include <cuda_runtime.h>

__global__ void fill(float* out, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;  //! not proved: race-global
}

int main(int argc, char** argv) {
    const int n = 1000;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    for (int round = 0; round < argc; round++) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        fill<<<(n + 255) / 256, 256, 0, stream>>>(y, n, round);
    }
    return cudaDeviceSynchronize();
}
