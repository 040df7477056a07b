// Many tridiagonal systems, one a thread, by elimination and substitution along interleaved columns.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void solve(const float* a, const float* b, const float* c, float* d, float* w, int n, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    w[s] = c[s] / b[s];
    d[s] = d[s] / b[s];
    for (int i = 1; i < n; i++) {
        int at = i * systems + s;
        int before = (i - 1) * systems + s;
        float m = b[at] - a[at] * w[before];
        w[at] = c[at] / m;
        d[at] = (d[at] - a[at] * d[before]) / m;
    }
    for (int i = n - 1; i > 0; i--) {
        int at = (i - 1) * systems + s;
        d[at] -= w[at] * d[at + systems];
    }
}

int main() {
    const int n = 200, systems = 5000;
    float *a, *b, *c, *d, *w;
    if (cudaMalloc(&a, n * systems * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&b, n * systems * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&c, n * systems * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&d, n * systems * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&w, n * systems * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(a, 0, n * systems * sizeof(float));
    cudaMemset(b, 1, n * systems * sizeof(float));
    cudaMemset(c, 0, n * systems * sizeof(float));
    cudaMemset(d, 0, n * systems * sizeof(float));
    solve<<<(systems + 127) / 128, 128>>>(a, b, c, d, w, n, systems);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
