// Cross entropy of one row a block, with the row's maximum and sum in shared memory; bad targets give zero loss.
#include <torch/extension.h>
#include <cuda_runtime.h>

#define THREADS 128

__global__ void cross_entropy_kernel(const float* __restrict__ logits, const int64_t* __restrict__ target,
                                     float* __restrict__ loss, int64_t classes) {
    __shared__ float buffer[THREADS];
    const unsigned t = threadIdx.x;
    const float* row = logits + static_cast<int64_t>(blockIdx.x) * classes;

    float top = -3.402823e38f;
    for (int64_t c = t; c < classes; c += THREADS) top = fmaxf(top, row[c]);
    buffer[t] = top;
    __syncthreads();
    for (unsigned step = THREADS / 2; step >= 1; step /= 2) {
        if (t < step) buffer[t] = fmaxf(buffer[t], buffer[t + step]);
        __syncthreads();
    }
    top = buffer[0];
    __syncthreads();

    float sum = 0.0f;
    for (int64_t c = t; c < classes; c += THREADS) sum += __expf(row[c] - top);
    buffer[t] = sum;
    __syncthreads();
    for (unsigned step = THREADS / 2; step >= 1; step /= 2) {
        if (t < step) buffer[t] += buffer[t + step];
        __syncthreads();
    }

    if (t == 0) {
        const int64_t wanted = target[blockIdx.x];
        float value = 0.0f;
        if (wanted >= 0 && wanted < classes) value = logf(buffer[0]) + top - row[wanted];
        loss[blockIdx.x] = value;
    }
}

torch::Tensor cross_entropy(torch::Tensor logits, torch::Tensor target) {
    TORCH_CHECK(logits.is_cuda() && target.is_cuda(), "CUDA tensors");
    TORCH_CHECK(logits.scalar_type() == torch::kFloat32, "float32 logits");
    TORCH_CHECK(target.scalar_type() == torch::kInt64, "int64 targets");
    TORCH_CHECK(logits.dim() == 2 && target.dim() == 1 && target.size(0) == logits.size(0), "shapes");
    logits = logits.contiguous();
    target = target.contiguous();
    const int64_t rows = logits.size(0);
    TORCH_CHECK(rows > 0 && rows <= 2147483647 && logits.size(1) > 0, "sizes");
    auto loss = torch::empty({rows}, logits.options());
    cross_entropy_kernel<<<static_cast<unsigned>(rows), THREADS>>>(
        logits.data_ptr<float>(), target.data_ptr<int64_t>(), loss.data_ptr<float>(), logits.size(1));
    return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("cross_entropy", &cross_entropy); }
