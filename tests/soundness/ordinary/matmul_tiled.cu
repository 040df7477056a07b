// C = A·B with square tiles in shared memory and tails on all three sides.
#include <torch/extension.h>

constexpr int TILE = 16;

__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int step = 0; step < (K + TILE - 1) / TILE; ++step) {
        const int ka = step * TILE + threadIdx.x;
        const int kb = step * TILE + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? a[row * K + ka] : 0.0f;
        right[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? b[kb * N + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) c[row * N + col] = sum;
}

torch::Tensor run(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.is_cuda() && b.is_cuda(), "CUDA tensors");
    TORCH_CHECK(a.scalar_type() == torch::kFloat32 && b.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(a.is_contiguous() && b.is_contiguous(), "contiguous");
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "shapes");
    TORCH_CHECK(a.numel() > 0 && b.numel() > 0 && a.numel() < (1 << 30) && b.numel() < (1 << 30), "size");
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    TORCH_CHECK(a.size(0) * b.size(1) < (1 << 30), "size of the result");
    TORCH_CHECK((M + TILE - 1) / TILE <= 65535, "rows");
    auto c = torch::empty({M, N}, a.options());
    matmul<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE)>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, N, K);
    return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
