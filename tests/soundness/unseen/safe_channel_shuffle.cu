// Channels of NCHW tensors are shuffled between groups; one flat index a thread.
#include <torch/extension.h>

__global__ void shuffle(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int total,
                        int channels, int groups, int spatial) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
        const int s = i % spatial;
        const int c = i / spatial % channels;
        const int n = i / spatial / channels;
        const int each = channels / groups;
        const int from = c % groups * each + c / groups;
        y[i] = x[(n * channels + from) * spatial + s] + bias[c % groups];
    }
}

torch::Tensor run(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && bias.is_cuda() && x.is_contiguous() && bias.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32 && bias.scalar_type() == torch::kFloat32, "float32");
    TORCH_CHECK(x.dim() == 4 && x.numel() > 0 && x.numel() <= 1000000000 && bias.numel() > 0, "size");
    const int groups = bias.numel(), channels = x.size(1), spatial = x.size(2) * x.size(3);
    TORCH_CHECK(channels % groups == 0, "groups must divide the channels");
    auto y = torch::empty_like(x);
    const int total = x.numel();
    const int blocks = std::min((total + 255) / 256, 4096);
    shuffle<<<blocks, 256>>>(x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), total, channels, groups,
                             spatial);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
