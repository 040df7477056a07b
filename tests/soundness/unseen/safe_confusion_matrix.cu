// Confusion matrix of up to 16 classes: counted in shared memory, added up with atomics.
#include <torch/extension.h>

constexpr int CLASSES = 16;

__global__ void confusion(const int* __restrict__ truth, const int* __restrict__ guess, int* __restrict__ matrix,
                          int* __restrict__ right, int n) {
    __shared__ int cells[CLASSES][CLASSES];
    __shared__ int hits;
    for (int c = threadIdx.x; c < CLASSES * CLASSES; c += blockDim.x) cells[c / CLASSES][c % CLASSES] = 0;
    if (threadIdx.x == 0) hits = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int t = truth[i], g = guess[i];
        if (t >= 0 && t < CLASSES && g >= 0 && g < CLASSES) {
            atomicAdd(&cells[t][g], 1);
            if (t == g) atomicAdd(&hits, 1);
        }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < CLASSES * CLASSES; c += blockDim.x) {
        const int seen = cells[c / CLASSES][c % CLASSES];
        if (seen > 0) atomicAdd(&matrix[c], seen);
    }
    if (threadIdx.x == 0) atomicAdd(right, hits);
}

std::vector<torch::Tensor> run(torch::Tensor truth, torch::Tensor guess) {
    TORCH_CHECK(truth.is_cuda() && guess.is_cuda() && truth.is_contiguous() && guess.is_contiguous(), "CUDA, contiguous");
    TORCH_CHECK(truth.scalar_type() == torch::kInt32 && guess.scalar_type() == torch::kInt32, "int32");
    TORCH_CHECK(truth.numel() == guess.numel() && truth.numel() > 0 && truth.numel() <= 1000000000, "size");
    auto matrix = torch::zeros({CLASSES, CLASSES}, truth.options());
    auto right = torch::zeros({1}, truth.options());
    const int n = truth.numel();
    confusion<<<(n + 127) / 128, 128>>>(truth.data_ptr<int>(), guess.data_ptr<int>(), matrix.data_ptr<int>(),
                                        right.data_ptr<int>(), n);
    return {matrix, right};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
