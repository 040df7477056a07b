// An array as a parameter is a pointer to a row of 16.
#include <torch/extension.h>

__device__ void put(float row[32], int k, float v) {
    row[k] = v;
}

__device__ float last(const float rows[][16], int k) {
    return rows[k][15];
}

__global__ void turn(const float x[], float y[], int n) {
    __shared__ float rows[16][16];
    int i = blockIdx.x * 256 + threadIdx.x;
    put(rows[threadIdx.x / 16], threadIdx.x % 16, i < n ? x[i] : 0.0f);
    __syncthreads();
    if (i < n) y[i] = last(rows, threadIdx.x % 16);
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30), "size");
    auto y = torch::empty_like(x);
    turn<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
