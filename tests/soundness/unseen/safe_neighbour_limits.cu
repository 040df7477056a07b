// A limited slope of each cell from its neighbours, then the flux through its faces; edges have one neighbour only.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void slopes(const float* u, float* slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > i) {
        float left = 0.0f, right = 0.0f;
        if (i > 0) left = u[i] - u[i - 1];
        if (n > i + 1) right = u[i + 1] - u[i];
        slope[i] = left * right <= 0.0f ? 0.0f : fminf(fabsf(left), fabsf(right)) * copysignf(1.0f, left);
    }
}

__global__ void fluxes(const float* u, const float* slope, float* flux, int n) {
    __shared__ float face[129];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    face[t + 1] = n > i ? u[i] + 0.5f * slope[i] : 0.0f;
    if (t == 0) face[0] = i > 0 && n > i - 1 ? u[i - 1] + 0.5f * slope[i - 1] : 0.0f;
    __syncthreads();
    if (n > i) flux[i] = face[t + 1] - face[t];
}

int main() {
    const int n = 60000;
    float *u, *slope, *flux;
    if (cudaMalloc(&u, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&slope, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&flux, n * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(u, 0, n * sizeof(float));
    slopes<<<(n + 255) / 256, 256>>>(u, slope, n);
    fluxes<<<(n + 127) / 128, 128>>>(u, slope, flux, n);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
