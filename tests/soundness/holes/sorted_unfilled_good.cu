// A sorting network over an array that every thread fills its part of.
#include <cuda_runtime.h>

__global__ void sort(const float* in, float* out) {
    __shared__ float cells[64];
    const int t = threadIdx.x;
    cells[t] = in[t];
    __syncthreads();
    for (int k = 2; k <= 64; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            const int other = t ^ j;
            if (other > t) {
                const float a = cells[t], b = cells[other];
                if ((a > b) == ((t & k) == 0)) {
                    cells[t] = b;
                    cells[other] = a;
                }
            }
            __syncthreads();
        }
    }
    out[t] = cells[t];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof(float));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemset(in, 0, 64 * sizeof(float));
    sort<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize();
}
