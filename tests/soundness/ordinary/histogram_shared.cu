// Histogram of bytes: a private one in shared memory, merged with atomics.
#include <torch/extension.h>

__global__ void histogram(const unsigned char* data, unsigned int* bins, int64_t n) {
    __shared__ unsigned int own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (own[b] > 0) atomicAdd(&bins[b], own[b]);
}

torch::Tensor run(torch::Tensor data) {
    TORCH_CHECK(data.is_cuda() && data.is_contiguous() && data.scalar_type() == torch::kUInt8 && data.numel() > 0, "bytes");
    auto bins = torch::zeros({256}, data.options().dtype(torch::kInt32));
    const int64_t n = data.numel();
    const int blocks = std::min<int64_t>((n + 255) / 256, 1024);
    histogram<<<blocks, 256>>>(data.data_ptr<unsigned char>(), reinterpret_cast<unsigned int*>(bins.data_ptr<int>()), n);
    return bins;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
