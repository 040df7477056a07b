// A launcher that is timed through a pack of arguments launches as well, for more elements than there are.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <utility>

__global__ void add(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;  //! refuted: bounds-global
}

void launch(int version, float* x, int n, int block) {
    switch (version) {
        case 1: add<<<(n + block - 1) / block, block>>>(x, n); break;
        default: std::printf("no such version\n"); std::exit(1);
    }
}

template <class Launcher, class... Arguments>
void repeat(int rounds, Launcher launcher, Arguments&&... arguments) {
    for (int i = 0; i < rounds; ++i) launcher(std::forward<Arguments>(arguments)...);
}

int main(int argc, char** argv) {
    int n = 1000, version = argc > 1 ? std::atoi(argv[1]) : 1;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    launch(version, x, n, 64);
    repeat(10, launch, version, x, 2 * n, 64);
    return cudaDeviceSynchronize();
}
