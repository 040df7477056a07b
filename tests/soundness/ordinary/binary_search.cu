// The place of every value among sorted edges, by bisection.
#include <torch/extension.h>

__global__ void bucketize(const float* values, const float* edges, int* out, int n, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = values[i];
    int low = 0, high = m;
    while (low < high) {
        const int mid = low + (high - low) / 2;
        if (edges[mid] < v) low = mid + 1;
        else high = mid;
    }
    out[i] = low;
}

torch::Tensor run(torch::Tensor values, torch::Tensor edges) {
    TORCH_CHECK(values.is_cuda() && values.is_contiguous() && values.scalar_type() == torch::kFloat32, "values");
    TORCH_CHECK(edges.is_cuda() && edges.is_contiguous() && edges.scalar_type() == torch::kFloat32 && edges.dim() == 1, "edges");
    TORCH_CHECK(values.numel() > 0 && values.numel() <= (1 << 30) && edges.numel() > 0 && edges.numel() <= (1 << 30), "size");
    auto out = torch::empty(values.sizes(), values.options().dtype(torch::kInt32));
    const int n = values.numel();
    bucketize<<<(n + 255) / 256, 256>>>(values.data_ptr<float>(), edges.data_ptr<float>(), out.data_ptr<int>(), n, edges.numel());
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
