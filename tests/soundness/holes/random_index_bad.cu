// A uniform number may be exactly 1.
#include <curand_kernel.h>
#include <torch/extension.h>

__global__ void draw(const float* table, float* y, int n, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    curandState state;
    curand_init(seed, i, 0, &state);
    int k = int(curand_uniform(&state) * 64.0f);
    y[i] = table[k];  //! refuted: bounds-global
}

torch::Tensor run(torch::Tensor table, int64_t n) {
    TORCH_CHECK(table.is_cuda() && table.is_contiguous() && table.scalar_type() == torch::kFloat32, "table");
    TORCH_CHECK(table.numel() == 64 && n > 0 && n <= (1 << 30), "size");
    auto y = torch::empty({n}, table.options());
    draw<<<(n + 255) / 256, 256>>>(table.data_ptr<float>(), y.data_ptr<float>(), n, 1);
    return y;
}
