// Some threads jump past the barrier that the others wait at.
#include <cuda_runtime.h>

__global__ void shift(const int* x, int* out, int n) {
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = 0;
    if (i >= n) goto end;
    s[threadIdx.x] = x[i];
    __syncthreads();  //! refuted: barrier-divergence
    out[i] = s[(threadIdx.x + 1) % 256];
end:;
}

int main() {
    const int n = 1000;
    int *x, *out;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    shift<<<(n + 255) / 256, 256>>>(x, out, n);
    return cudaDeviceSynchronize();
}
