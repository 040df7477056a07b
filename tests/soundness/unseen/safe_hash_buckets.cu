// Keys are counted in buckets by remainder: in shared memory for each block, in global memory for all.
#include <torch/extension.h>

constexpr int BUCKETS = 97;

__global__ void buckets(const unsigned* __restrict__ keys, const int* __restrict__ signedkeys, int* __restrict__ counts,
                        int* __restrict__ second, int n, int places) {
    __shared__ int own[BUCKETS];
    for (int b = threadIdx.x; b < BUCKETS; b += blockDim.x) own[b] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&own[keys[i] % BUCKETS], 1);
        int place = signedkeys[i] % places;
        if (place < 0) place += places;
        atomicAdd(&second[place], 1);
        atomicMax(&second[i % places], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BUCKETS; b += blockDim.x) {
        const int home = (b + blockIdx.x) % BUCKETS;
        if (own[home] > 0) atomicAdd(&counts[home], own[home]);
    }
}

std::vector<torch::Tensor> run(torch::Tensor keys, torch::Tensor signedkeys, int64_t places) {
    TORCH_CHECK(keys.is_cuda() && signedkeys.is_cuda() && keys.is_contiguous() && signedkeys.is_contiguous(), "CUDA");
    TORCH_CHECK(keys.scalar_type() == torch::kInt32 && signedkeys.scalar_type() == torch::kInt32, "int32");
    TORCH_CHECK(keys.numel() == signedkeys.numel() && keys.numel() > 0 && keys.numel() <= 1000000000, "size");
    TORCH_CHECK(places > 0 && places <= 1000000, "places");
    auto counts = torch::zeros({BUCKETS}, keys.options());
    auto second = torch::zeros({places}, keys.options());
    const int n = keys.numel();
    buckets<<<(n + 127) / 128, 128>>>(reinterpret_cast<unsigned*>(keys.data_ptr<int>()), signedkeys.data_ptr<int>(),
                                      counts.data_ptr<int>(), second.data_ptr<int>(), n, static_cast<int>(places));
    return {counts, second};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
