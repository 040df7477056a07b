// Count, sum, least and greatest of the valid samples: private cells of each block, then one atomic of each kind a block.
#include <torch/extension.h>
#include <climits>

__global__ void statistics(const int* __restrict__ samples, int* __restrict__ result, int n, int limit) {
    __shared__ int count, total, least, greatest;
    if (threadIdx.x == 0) {
        count = 0;
        total = 0;
        least = INT_MAX;
        greatest = INT_MIN;
    }
    __syncthreads();
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const int s = samples[i];
        if (s >= 0 && s <= limit) {
            atomicAdd(&count, 1);
            atomicXor(&total, s);
            atomicMin(&least, s);
            atomicMax(&greatest, s);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&result[0], count);
        atomicXor(&result[1], total);
        atomicMin(&result[2], least);
        atomicMax(&result[3], greatest);
    }
}

torch::Tensor run(torch::Tensor samples, int64_t limit) {
    TORCH_CHECK(samples.is_cuda() && samples.is_contiguous() && samples.scalar_type() == torch::kInt32, "int32 please");
    TORCH_CHECK(limit >= 0 && limit <= 1000000, "limit");
    TORCH_CHECK(samples.numel() > 0 && samples.numel() <= 1000000000, "size");
    auto result = torch::zeros({4}, samples.options());
    const int n = samples.numel();
    const int blocks = std::min((n + 127) / 128, 512);
    statistics<<<blocks, 128>>>(samples.data_ptr<int>(), result.data_ptr<int>(), n, static_cast<int>(limit));
    return result;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
