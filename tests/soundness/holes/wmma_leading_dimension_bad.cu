// Sixteen rows that are 24 apart end behind the last tile.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void products(const half* a, const half* b, float* c) {
    int tile = blockIdx.x * 4 + threadIdx.x / 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a + tile * 256, 16);
    wmma::load_matrix_sync(right, b + tile * 256, 24);  //! not proved: bounds-global
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + tile * 256, sum, 16, wmma::mem_row_major);
}

int main() {
    const int blocks = 100;
    half *a, *b;
    float* c;
    cudaMalloc(&a, blocks * 4 * 256 * sizeof(half));
    cudaMalloc(&b, blocks * 4 * 256 * sizeof(half));
    cudaMalloc(&c, blocks * 4 * 256 * sizeof(float));
    cudaMemset(a, 0, blocks * 4 * 256 * sizeof(half));
    cudaMemset(b, 0, blocks * 4 * 256 * sizeof(half));
    products<<<blocks, 128>>>(a, b, c);
    return cudaDeviceSynchronize();
}
