// A stream of the pool is not ordered after the current one, on which the zeros are written.
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

__global__ void gather(const float* table, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];  //! not proved: bounds-global
}

torch::Tensor launch(torch::Tensor table) {
    TORCH_CHECK(table.is_cuda() && table.is_contiguous() && table.dtype() == torch::kFloat32);
    TORCH_CHECK(table.numel() > 0 && table.numel() < 1000000);
    int n = table.numel();
    auto out = torch::empty_like(table);
    auto index = torch::zeros({n}, table.options().dtype(torch::kInt32));
    auto stream = at::cuda::getStreamFromPool();
    gather<<<(n + 255) / 256, 256, 0, stream.stream()>>>(
        table.data_ptr<float>(), index.data_ptr<int>(), out.data_ptr<float>(), n);
    return out;
}
