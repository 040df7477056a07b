// Each instance of the template has a variable of its own: what the last one returns says nothing of the first.
#include <cuda_runtime.h>

__global__ void fill(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.0f;  //! refuted: bounds-global
}

template <int HALVINGS>
int elements(int n) {
    int own = n;
    if constexpr (HALVINGS > 0) elements<HALVINGS - 1>(n / 2);
    return own;
}

int main() {
    const int n = 1024;
    float* y;
    cudaMalloc(&y, n / 4 * sizeof(float));
    int count = elements<2>(n);
    fill<<<(count + 255) / 256, 256>>>(y, count);
    return cudaDeviceSynchronize();
}
