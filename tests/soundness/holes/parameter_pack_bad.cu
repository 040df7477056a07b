// The parameters of a pack have one name: the first is twice as large as the memory, the last is not.
#include <cuda_runtime.h>

__global__ void set(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1.0f;  //! refuted: bounds-global
}

template <class... Sizes>
void launch(float* x, Sizes... sizes) {
    int all[] = {sizes...};
    set<<<(all[0] + 127) / 128, 128>>>(x, all[0]);
}

int main() {
    int n = 1000;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    launch(x, 2 * n, n);
    return cudaDeviceSynchronize();
}
