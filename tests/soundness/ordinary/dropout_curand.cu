// Dropout, four elements a thread, numbers of the Philox generator.
#include <curand_kernel.h>
#include <torch/extension.h>

__global__ void dropout(const float* __restrict__ x, float* __restrict__ y, unsigned char* __restrict__ kept, float p, unsigned long long seed, int64_t n) {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, thread, 0, &state);
    const float scale = 1.0f / (1.0f - p);
    for (int64_t first = thread * 4; first < n; first += stride * 4) {
        const float4 u = curand_uniform4(&state);
        const float draw[4] = {u.x, u.y, u.z, u.w};
        for (int k = 0; k < 4; ++k) {
            if (first + k < n) {
                const bool keep = draw[k] > p;
                kept[first + k] = keep;
                y[first + k] = keep ? x[first + k] * scale : 0.0f;
            }
        }
    }
}

std::vector<torch::Tensor> run(torch::Tensor x, double p, int64_t seed) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() > 0, "x");
    TORCH_CHECK(x.numel() <= (1LL << 40), "size");
    auto y = torch::empty_like(x);
    auto kept = torch::empty(x.sizes(), x.options().dtype(torch::kUInt8));
    const int64_t n = x.numel();
    const int blocks = std::min<int64_t>((n + 1023) / 1024, 1024);
    dropout<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), kept.data_ptr<unsigned char>(), p, seed, n);
    return {y, kept};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
