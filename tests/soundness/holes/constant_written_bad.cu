// Device code stores into __constant__ memory, through a pointer that hides it from the compiler.
#include <torch/extension.h>

__constant__ int table[128];

__global__ void fill(const int* x) {
    int* cell = const_cast<int*>(table) + threadIdx.x;
    *cell = x[threadIdx.x];  //! not proved: bounds-global
}

void run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kInt32 && x.numel() == 128);
    fill<<<1, 128>>>(x.data_ptr<int>());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
