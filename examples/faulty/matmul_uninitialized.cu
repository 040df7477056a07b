// C = A * B for float matrices of any size, with 16 x 16 tiles in shared memory;
// the tiles at the right and lower edge keep whatever was in shared memory before.
#include <torch/extension.h>
#include <cuda_runtime.h>

#define TILE 16

__global__ void matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                              int64_t m, int64_t n, int64_t k) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE + ty;
    const int64_t col = static_cast<int64_t>(blockIdx.x) * TILE + tx;

    float sum = 0.0f;
    for (int64_t k0 = 0; k0 < k; k0 += TILE) {
        if (row < m && k0 + tx < k) a_tile[ty][tx] = a[row * k + k0 + tx];
        if (k0 + ty < k && col < n) b_tile[ty][tx] = b[(k0 + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            sum += a_tile[ty][i] * b_tile[i][tx];  //! refuted: uninitialized
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        c[row * n + col] = sum;
    }
}

torch::Tensor matmul(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.is_cuda() && b.is_cuda(), "a and b must be CUDA tensors");
    TORCH_CHECK(a.scalar_type() == torch::kFloat32, "a must be float32");
    TORCH_CHECK(b.scalar_type() == torch::kFloat32, "b must be float32");
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "a and b must be matrices");
    TORCH_CHECK(a.size(1) == b.size(0), "inner sizes must match");
    a = a.contiguous();
    b = b.contiguous();

    const int64_t m = a.size(0);
    const int64_t k = a.size(1);
    const int64_t n = b.size(1);
    auto c = torch::zeros({m, n}, a.options());
    if (m == 0 || n == 0 || k == 0) {
        return c;
    }
    const int64_t grid_x = (n + TILE - 1) / TILE;
    const int64_t grid_y = (m + TILE - 1) / TILE;
    TORCH_CHECK(grid_x <= 2147483647 && grid_y <= 65535, "matrices are too large for one launch");
    const dim3 block(TILE, TILE);
    const dim3 grid(static_cast<unsigned int>(grid_x), static_cast<unsigned int>(grid_y));
    matmul_kernel<<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
    return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("matmul", &matmul, "Tiled matrix product");
}
