// Layer norm of rows: two tree reductions over dynamic shared memory.
#include <torch/extension.h>

__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* y, int width, float eps) {
    extern __shared__ float part[];
    const int t = threadIdx.x;
    const float* row = x + static_cast<int64_t>(blockIdx.x) * width;
    float sum = 0.0f;
    for (int c = t; c < width; c += blockDim.x) sum += row[c];
    part[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    const float mean = part[0] / width;
    __syncthreads();
    float square = 0.0f;
    for (int c = t; c < width; c += blockDim.x) {
        const float d = row[c] - mean;
        square += d * d;
    }
    part[t] = square;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    const float inverse = rsqrtf(part[0] / width + eps);
    for (int c = t; c < width; c += blockDim.x)
        y[static_cast<int64_t>(blockIdx.x) * width + c] = (row[c] - mean) * inverse * gamma[c] + beta[c];
}

torch::Tensor run(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(gamma.is_cuda() && gamma.is_contiguous() && gamma.scalar_type() == torch::kFloat32, "gamma");
    TORCH_CHECK(beta.is_cuda() && beta.is_contiguous() && beta.scalar_type() == torch::kFloat32, "beta");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.size(1) <= (1 << 24), "matrix");
    TORCH_CHECK(gamma.numel() == x.size(1) && beta.numel() == x.size(1), "affine");
    auto y = torch::empty_like(x);
    const int threads = 256;
    layer_norm<<<x.size(0), threads, threads * sizeof(float)>>>(
        x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(), x.size(1), eps);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
