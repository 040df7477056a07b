// A pointer in a struct is advanced through a pointer to its bytes.
#include <cuda_runtime.h>

struct Rows {
    float* first;
    long long offset;
};

__global__ void work(const float* a, const float* b, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Rows rows[1];
    rows[0].first = y;
    rows[0].offset = 0;
    long long* words = reinterpret_cast<long long*>(rows);
    words[0] += 4 * (a[i] > 0.0f);
    rows[0].first[i] = b[i];  //! not proved: bounds-global
}

int main() {
    const int n = 1000;
    float *a, *b, *y;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(a, 63, n * sizeof(float));
    cudaMemset(b, 63, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    work<<<(n + 127) / 128, 128>>>(a, b, y, n);
    return cudaDeviceSynchronize();
}
