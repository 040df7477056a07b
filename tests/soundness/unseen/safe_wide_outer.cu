// Distances of all pairs of points on a line, and the diagonal cleared: a matrix larger than 2^31 elements may come out.
#include <torch/extension.h>

__global__ void distances(const float* __restrict__ p, const float* __restrict__ q, float* __restrict__ d, int n, int m) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m) return;
    const size_t at = static_cast<size_t>(i) * m + j;
    d[at] = fabsf(p[i] - q[j]);
}

__global__ void clear_diagonal(float* __restrict__ d, int n, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || i >= m) return;
    d[(size_t)i * m + i] = 0.0f;
}

__global__ void scale_lines(float* __restrict__ d, const float* __restrict__ s, int n, int m) {
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        float* line = d + (int64_t)i * m;
        for (int j = threadIdx.x; j < m; j += blockDim.x) line[j] *= s[i];
    }
}

torch::Tensor run(torch::Tensor p, torch::Tensor q) {
    TORCH_CHECK(p.is_cuda() && q.is_cuda() && p.is_contiguous() && q.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(p.scalar_type() == torch::kFloat32 && q.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(p.dim() == 1 && q.dim() == 1 && p.size(0) > 0 && q.size(0) > 0, "points");
    TORCH_CHECK(p.size(0) <= 500000 && q.size(0) <= 500000, "size");
    const int n = p.size(0), m = q.size(0);
    auto d = torch::empty({n, m}, p.options());
    distances<<<dim3((m + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(p.data_ptr<float>(), q.data_ptr<float>(),
                                                                d.data_ptr<float>(), n, m);
    clear_diagonal<<<(n + 255) / 256, 256>>>(d.data_ptr<float>(), n, m);
    scale_lines<<<std::min(n, 4096), 256>>>(d.data_ptr<float>(), p.data_ptr<float>(), n, m);
    return d;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
