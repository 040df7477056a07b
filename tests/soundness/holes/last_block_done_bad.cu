// The last block to finish adds the partial sums; without a fence it may not see them.
#include <cuda_runtime.h>

__global__ void total(const float* x, float* partial, unsigned* finished, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 64; ++k) sum += x[blockIdx.x * 64 + k];
        partial[blockIdx.x] = sum;  //! not proved: race-global
        last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0.0f;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
        out[0] = sum;
    }
}

int main() {
    const int blocks = 100;
    float *x, *partial, *out;
    unsigned* finished;
    cudaMalloc(&x, blocks * 64 * sizeof(float));
    cudaMalloc(&partial, blocks * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMalloc(&finished, sizeof(unsigned));
    cudaMemset(x, 0, blocks * 64 * sizeof(float));
    cudaMemset(finished, 0, sizeof(unsigned));
    total<<<blocks, 32>>>(x, partial, finished, out);
    return cudaDeviceSynchronize();
}
