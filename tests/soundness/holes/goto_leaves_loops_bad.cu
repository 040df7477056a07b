// The jump out of both loops skips the store of the default: what is found may be one past the last row.
#include <cuda_runtime.h>

__device__ int first(const int* x, int rows, int what) {
    int at = rows * 8;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < 8; ++c)
            if (x[r * 8 + c] == what) {
                at = r * 8 + c;
                goto found;
            }
found:
    return at;
}

__global__ void look(const int* x, int* out) {
    out[threadIdx.x] = x[first(x, 4, threadIdx.x)];  //! not proved: bounds-global
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(x, 1, 32 * sizeof(int));
    look<<<1, 64>>>(x, out);
    return cudaDeviceSynchronize();
}
