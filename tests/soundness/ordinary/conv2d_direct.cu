// Direct convolution with stride, padding and dilation, one thread an output element, indices taken apart from a flat one.
#include <torch/extension.h>

__global__ void conv2d(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* __restrict__ y,
                       int N, int C, int H, int W, int O, int KH, int KW, int OH, int OW, int stride, int pad, int dilation) {
    const int total = N * O * OH * OW;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
        const int ow = i % OW;
        const int oh = (i / OW) % OH;
        const int o = (i / (OW * OH)) % O;
        const int n = i / (OW * OH * O);
        float sum = bias != nullptr ? bias[o] : 0.0f;
        for (int c = 0; c < C; ++c)
            for (int kh = 0; kh < KH; ++kh) {
                const int ih = oh * stride - pad + kh * dilation;
                if (ih < 0 || ih >= H) continue;
                for (int kw = 0; kw < KW; ++kw) {
                    const int iw = ow * stride - pad + kw * dilation;
                    if (iw < 0 || iw >= W) continue;
                    sum += x[((n * C + c) * H + ih) * W + iw] * w[((o * C + c) * KH + kh) * KW + kw];
                }
            }
        y[i] = sum;
    }
}

torch::Tensor run(torch::Tensor x, torch::Tensor w, c10::optional<torch::Tensor> bias, int64_t stride, int64_t pad, int64_t dilation) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.dim() == 4, "x");
    TORCH_CHECK(w.is_cuda() && w.is_contiguous() && w.scalar_type() == torch::kFloat32 && w.dim() == 4, "w");
    TORCH_CHECK(x.size(1) == w.size(1), "channels");
    TORCH_CHECK(stride >= 1 && stride <= 64 && pad >= 0 && pad <= 1024 && dilation >= 1 && dilation <= 64, "parameters");
    const int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3), O = w.size(0), KH = w.size(2), KW = w.size(3);
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1 << 30) && w.numel() > 0 && w.numel() <= (1 << 30), "size");
    TORCH_CHECK(H <= 65536 && W <= 65536 && KH <= 1024 && KW <= 1024, "sides");
    const int OH = (H + 2 * pad - dilation * (KH - 1) - 1) / stride + 1;
    const int OW = (W + 2 * pad - dilation * (KW - 1) - 1) / stride + 1;
    TORCH_CHECK(OH > 0 && OW > 0, "kernel larger than the image");
    const int64_t total = static_cast<int64_t>(N) * O * OH * OW;
    TORCH_CHECK(total <= (1 << 30), "size of the result");
    const float* b = nullptr;
    if (bias.has_value()) {
        TORCH_CHECK(bias->is_cuda() && bias->is_contiguous() && bias->scalar_type() == torch::kFloat32 && bias->numel() == O, "bias");
        b = bias->data_ptr<float>();
    }
    auto y = torch::empty({N, O, OH, OW}, x.options());
    const int blocks = std::min<int64_t>((total + 255) / 256, 4096);
    conv2d<<<blocks, 256>>>(x.data_ptr<float>(), w.data_ptr<float>(), b, y.data_ptr<float>(), N, C, H, W, O, KH, KW, OH, OW,
                            static_cast<int>(stride), static_cast<int>(pad), static_cast<int>(dilation));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
