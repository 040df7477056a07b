// Max pooling with padding over a three-dimensional grid.
#include <torch/extension.h>
#include <cmath>

__global__ void max_pool(const float* in, float* out, int H, int W, int OH, int OW, int k, int stride, int pad) {
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    const int plane = blockIdx.z;
    if (ox >= OW || oy >= OH) return;
    const int y0 = oy * stride - pad, x0 = ox * stride - pad;
    const int y1 = min(y0 + k, H), x1 = min(x0 + k, W);
    float best = -INFINITY;
    for (int y = max(y0, 0); y < y1; ++y)
        for (int x = max(x0, 0); x < x1; ++x) best = fmaxf(best, in[(static_cast<int64_t>(plane) * H + y) * W + x]);
    out[(static_cast<int64_t>(plane) * OH + oy) * OW + ox] = best;
}

torch::Tensor run(torch::Tensor x, int64_t k, int64_t stride, int64_t pad) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 4, "x");
    TORCH_CHECK(k >= 1 && k <= 64 && stride >= 1 && stride <= 64 && pad >= 0 && pad <= k / 2, "window");
    const int64_t planes = x.size(0) * x.size(1);
    const int H = x.size(2), W = x.size(3);
    TORCH_CHECK(x.numel() > 0 && planes <= 65535 && H <= 100000 && W <= 100000, "size");
    TORCH_CHECK(H + 2 * pad >= k && W + 2 * pad >= k, "window larger than the image");
    const int OH = (H + 2 * pad - k) / stride + 1, OW = (W + 2 * pad - k) / stride + 1;
    auto y = torch::empty({x.size(0), x.size(1), OH, OW}, x.options());
    dim3 block(16, 16), grid((OW + 15) / 16, (OH + 15) / 16, planes);
    max_pool<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), H, W, OH, OW, k, stride, pad);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
