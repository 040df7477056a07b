// Rows of a large table by index, one block a row; an index outside of it gives zeros.
#include <torch/extension.h>

__global__ void gather(const float* __restrict__ table, const int64_t* __restrict__ index, float* __restrict__ out,
                       int64_t entries, int width) {
    const int64_t entry = index[blockIdx.x];
    const bool known = entry >= 0 && entry < entries;
    const int64_t to = (int64_t)blockIdx.x * width;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        out[to + c] = known ? table[entry * width + c] : 0.0f;
    }
}

__global__ void scatter_rows(const float* __restrict__ rows, const int* __restrict__ place, float* __restrict__ table,
                             int count, int entries, int width) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    const int r = blockIdx.x;
    if (r >= count || c >= width) return;
    const int p = place[r];
    if (p < 0 || p >= entries) return;
    const size_t from = (size_t)r * width + c;
    atomicAdd(&table[(size_t)p * width + c], rows[from]);
}

torch::Tensor run(torch::Tensor table, torch::Tensor index) {
    TORCH_CHECK(table.is_cuda() && index.is_cuda() && table.is_contiguous() && index.is_contiguous(), "CUDA");
    TORCH_CHECK(table.scalar_type() == torch::kFloat32 && table.dim() == 2 && table.numel() > 0, "float table");
    TORCH_CHECK(index.scalar_type() == torch::kInt64 && index.dim() == 1 && index.numel() > 0, "int64 index");
    TORCH_CHECK(index.numel() <= 1000000000 && table.size(1) <= 1000000, "size");
    auto out = torch::empty({index.size(0), table.size(1)}, table.options());
    gather<<<index.size(0), 128>>>(table.data_ptr<float>(), index.data_ptr<int64_t>(), out.data_ptr<float>(),
                                   table.size(0), static_cast<int>(table.size(1)));
    return out;
}

torch::Tensor put(torch::Tensor rows, torch::Tensor place, int64_t entries) {
    TORCH_CHECK(rows.is_cuda() && place.is_cuda() && rows.is_contiguous() && place.is_contiguous(), "CUDA");
    TORCH_CHECK(rows.scalar_type() == torch::kFloat32 && rows.dim() == 2 && rows.numel() > 0, "float rows");
    TORCH_CHECK(place.scalar_type() == torch::kInt32 && place.numel() == rows.size(0), "int32 places");
    TORCH_CHECK(rows.size(0) <= 1000000000 && rows.size(1) <= 1000000 && entries > 0 && entries <= 1000000000, "size");
    auto table = torch::zeros({entries, rows.size(1)}, rows.options());
    const int count = rows.size(0), width = rows.size(1);
    scatter_rows<<<dim3(count, (width + 127) / 128), 128>>>(rows.data_ptr<float>(), place.data_ptr<int>(),
                                                            table.data_ptr<float>(), count,
                                                            static_cast<int>(entries), width);
    return table;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("run", &run);
    m.def("put", &put);
}
