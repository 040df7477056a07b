// Histogram whose private counters are incremented without atomics.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void histogram(const uint8_t* __restrict__ data, int* __restrict__ bins, int64_t n) {
    __shared__ int local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64_t)gridDim.x * 256) {
        local[data[i]]++;  //! refuted: race-shared
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

torch::Tensor byte_histogram(torch::Tensor data) {
    TORCH_CHECK(data.is_cuda() && data.is_contiguous() && data.scalar_type() == torch::kUInt8, "data");
    TORCH_CHECK(data.numel() > 0, "empty");
    auto bins = torch::zeros({256}, data.options().dtype(torch::kInt32));
    const int64_t wanted = (data.numel() + 255) / 256;
    histogram<<<(int)(wanted < 512 ? wanted : 512), 256>>>(data.data_ptr<uint8_t>(), bins.data_ptr<int>(), data.numel());
    return bins;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("byte_histogram", &byte_histogram); }
