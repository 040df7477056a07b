// C = A·B, every thread keeps a 4x4 tile in registers.
#include <torch/extension.h>

#define BM 64
#define BN 64
#define BK 8

__global__ __launch_bounds__(256) void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                              int M, int N, int K) {
    __shared__ float as[BK][BM];
    __shared__ float bs[BK][BN];
    const int tid = threadIdx.x;
    const int tx = tid % 16, ty = tid / 16;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) {
            const int r = i / BK, k = i % BK;
            as[k][r] = (row0 + r < M && k0 + k < K) ? a[(row0 + r) * K + k0 + k] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += 256) {
            const int k = i / BN, n = i % BN;
            bs[k][n] = (k0 + k < K && col0 + n < N) ? b[(k0 + k) * N + col0 + n] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float ra[4], rb[4];
            #pragma unroll
            for (int i = 0; i < 4; ++i) ra[i] = as[k][ty * 4 + i];
            #pragma unroll
            for (int j = 0; j < 4; ++j) rb[j] = bs[k][tx * 4 + j];
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                #pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty * 4 + i;
        if (row >= M) break;
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + tx * 4 + j;
            if (col < N) c[row * N + col] = acc[i][j];
        }
    }
}

torch::Tensor run(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.is_cuda() && b.is_cuda(), "CUDA tensors");
    TORCH_CHECK(a.scalar_type() == torch::kFloat32 && b.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(a.is_contiguous() && b.is_contiguous(), "contiguous");
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "shapes");
    const int M = a.size(0), K = a.size(1), N = b.size(1);
    TORCH_CHECK(M > 0 && N > 0 && K > 0 && M <= 32768 && N <= 32768 && K <= 32768, "sizes");
    auto c = torch::empty({M, N}, a.options());
    matmul<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), 256>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, N, K);
    return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
