// One helper called twice: its shared array is one object, and nothing orders the two calls.
#include <cuda_runtime.h>

__device__ float block_sum(float v) {
    __shared__ float scratch[128];
    scratch[threadIdx.x] = v;  //! refuted: race-shared
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    return scratch[0];
}

__global__ void moments(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    float sum = block_sum(v);
    float squares = block_sum(v * v);
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = sum;
        out[2 * blockIdx.x + 1] = squares;
    }
}

int main() {
    const int n = 5000;
    const int blocks = (n + 127) / 128;
    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, 2 * blocks * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    moments<<<blocks, 128>>>(x, out, n);
    return cudaDeviceSynchronize();
}
