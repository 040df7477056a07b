// C = A B with tiles of 16 x 16 and sizes that are no multiple of it.
#include <cstdlib>
#include <cuda_runtime.h>

#define T 16

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[T][T];
    __shared__ float b[T][T];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * T + ty;
    int column = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k = 0; k < K; k += T) {
        a[ty][tx] = row < M && k + tx < K ? A[row * K + k + tx] : 0.0f;
        b[ty][tx] = column < N && k + ty < K ? B[(k + ty) * N + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < T; j++) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

int main() {
    const int M = 500, N = 300, K = 700;
    float *A, *B, *C;
    if (cudaMalloc(&A, M * K * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&B, K * N * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    if (cudaMalloc(&C, M * N * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
    cudaMemset(A, 0, M * K * sizeof(float));
    cudaMemset(B, 0, K * N * sizeof(float));
    multiply<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
