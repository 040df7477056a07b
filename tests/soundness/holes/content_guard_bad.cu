// The kernel judges its indices itself, and lets one too many through: its own fault, not a missing promise.
#include <torch/extension.h>

__global__ void put(const int* place, const float* rows, float* table, int count, int entries, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    int p = place[r];
    if (p < 0 || p > entries) return;
    for (int c = 0; c < width; c++) {
        atomicAdd(&table[(size_t)p * width + c], rows[r * width + c]);  //! refuted: bounds-global
    }
}

torch::Tensor run(torch::Tensor place, torch::Tensor rows, int64_t entries) {
    TORCH_CHECK(place.is_cuda() && rows.is_cuda() && place.is_contiguous() && rows.is_contiguous(), "CUDA");
    TORCH_CHECK(place.scalar_type() == torch::kInt32 && rows.scalar_type() == torch::kFloat32, "types");
    TORCH_CHECK(rows.dim() == 2 && rows.numel() > 0 && place.numel() == rows.size(0), "one place a row");
    TORCH_CHECK(entries > 0 && entries <= 10000 && rows.size(1) <= 1000 && rows.size(0) <= 1000000, "size");
    auto table = torch::zeros({entries, rows.size(1)}, rows.options());
    int count = rows.size(0), width = rows.size(1);
    put<<<(count + 127) / 128, 128>>>(place.data_ptr<int>(), rows.data_ptr<float>(), table.data_ptr<float>(), count,
                                      static_cast<int>(entries), width);
    return table;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
