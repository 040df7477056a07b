// Integer means of groups of pixels; an empty group keeps its old colour.
#include <torch/extension.h>

__global__ void means(const int* __restrict__ sums, const int* __restrict__ counts, const int* __restrict__ old,
                      int* __restrict__ colour, int groups) {
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups) return;
    const int count = counts[g];
    int value = old[g];
    if (count > 0) value = sums[g] / count;
    if (g > 0 && counts[g - 1] > 0) value += sums[g - 1] % counts[g - 1];
    if (groups > g + 1) value -= old[g + 1];
    colour[g] = value;
}

__global__ void spread(const int* __restrict__ colour, int* __restrict__ pixels, int n, int groups, int each) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > i) {
        int g = i / each;
        if (g > groups - 1) g = groups - 1;
        int c = colour[g];
        if (g > 0) c += colour[g - 1];
        pixels[i] = c;
    }
}

torch::Tensor run(torch::Tensor sums, torch::Tensor counts, torch::Tensor old, int64_t each) {
    TORCH_CHECK(sums.is_cuda() && counts.is_cuda() && old.is_cuda(), "CUDA please");
    TORCH_CHECK(sums.is_contiguous() && counts.is_contiguous() && old.is_contiguous(), "contiguous please");
    TORCH_CHECK(sums.scalar_type() == torch::kInt32 && counts.scalar_type() == torch::kInt32, "int32 please");
    TORCH_CHECK(old.scalar_type() == torch::kInt32, "int32 please");
    TORCH_CHECK(sums.numel() == counts.numel() && sums.numel() == old.numel(), "sizes");
    TORCH_CHECK(sums.numel() > 0 && sums.numel() <= 1000000 && each > 0 && each <= 1000, "size");
    const int groups = sums.numel();
    auto colour = torch::empty_like(old);
    auto pixels = torch::empty({groups * each}, old.options());
    const int n = pixels.numel();
    means<<<(groups + 127) / 128, 128>>>(sums.data_ptr<int>(), counts.data_ptr<int>(), old.data_ptr<int>(),
                                         colour.data_ptr<int>(), groups);
    spread<<<(n + 255) / 256, 256>>>(colour.data_ptr<int>(), pixels.data_ptr<int>(), n, groups, static_cast<int>(each));
    return pixels;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
