// The parameters of a pack have one name: the first is the size of the memory, the last is not used.
#include <cuda_runtime.h>

__global__ void set(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1.0f;
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
    launch(x, n, 2 * n);
    return cudaDeviceSynchronize();
}
