// Degrees of a graph's nodes from its edge list; edges with an unknown end are counted and skipped.
#include <torch/extension.h>

__global__ void degrees(const int* __restrict__ from, const int* __restrict__ to, const float* __restrict__ weight,
                        int* in, int* out, float* load, int* skipped, int* widest, int edges, int nodes) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += blockDim.x * gridDim.x) {
        const int a = from[e], b = to[e];
        if (a < 0 || a >= nodes || b < 0 || b >= nodes) {
            atomicAdd(skipped, 1);
            continue;
        }
        atomicAdd(&out[a], 1);
        atomicAdd(&in[b], 1);
        atomicAdd(&load[b], weight[e]);
        atomicMax(widest, a > b ? a - b : b - a);
    }
}

std::vector<torch::Tensor> run(torch::Tensor from, torch::Tensor to, torch::Tensor weight, int64_t nodes) {
    TORCH_CHECK(from.is_cuda() && to.is_cuda() && weight.is_cuda(), "CUDA please");
    TORCH_CHECK(from.scalar_type() == torch::kInt32 && to.scalar_type() == torch::kInt32, "int32 ends");
    TORCH_CHECK(weight.scalar_type() == torch::kFloat32, "float weights");
    TORCH_CHECK(from.is_contiguous() && to.is_contiguous() && weight.is_contiguous(), "contiguous please");
    TORCH_CHECK(from.numel() == to.numel() && from.numel() == weight.numel(), "one weight an edge");
    TORCH_CHECK(from.numel() > 0 && from.numel() <= 100000000 && nodes > 0 && nodes <= 100000000, "size");
    auto in = torch::zeros({nodes}, from.options());
    auto out = torch::zeros({nodes}, from.options());
    auto load = torch::zeros({nodes}, weight.options());
    auto skipped = torch::zeros({1}, from.options());
    auto widest = torch::zeros({1}, from.options());
    const int edges = from.numel();
    const int blocks = std::min((edges + 255) / 256, 1024);
    degrees<<<blocks, 256>>>(from.data_ptr<int>(), to.data_ptr<int>(), weight.data_ptr<float>(), in.data_ptr<int>(),
                             out.data_ptr<int>(), load.data_ptr<float>(), skipped.data_ptr<int>(),
                             widest.data_ptr<int>(), edges, static_cast<int>(nodes));
    return {in, out, load, skipped, widest};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
