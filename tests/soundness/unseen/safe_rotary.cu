// Rotary position embedding in place: each thread turns one pair of elements.
#include <torch/extension.h>
#include <cuda_runtime.h>

struct Angle {
    float sine, cosine;
};

__device__ Angle angle_of(int64_t position, int64_t pair, int64_t pairs, float base) {
    const float rate = powf(base, -static_cast<float>(pair) / static_cast<float>(pairs));
    Angle a;
    sincosf(static_cast<float>(position) * rate, &a.sine, &a.cosine);
    return a;
}

__global__ void rotary(float* x, int64_t rows, int64_t length, int64_t pairs, float base) {
    const int64_t at = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (at >= rows * pairs) return;
    const int64_t row = at / pairs;
    const int64_t pair = at - row * pairs;
    const Angle a = angle_of(row % length, pair, pairs, base);
    float* start = x + row * (2 * pairs);
    const float left = start[pair];
    const float right = start[pair + pairs];
    start[pair] = left * a.cosine - right * a.sine;
    start[pair + pairs] = left * a.sine + right * a.cosine;
}

void rotary_(torch::Tensor x, double base) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32, "contiguous float32 on CUDA");
    TORCH_CHECK(x.dim() == 3 && x.size(2) % 2 == 0, "x must be (batch, length, even width)");
    TORCH_CHECK(x.numel() > 0 && x.numel() <= (1LL << 36), "size");
    const int64_t rows = x.size(0) * x.size(1);
    const int64_t pairs = x.size(2) / 2;
    const int64_t blocks = (rows * pairs + 127) / 128;
    rotary<<<static_cast<unsigned>(blocks), 128>>>(x.data_ptr<float>(), rows, x.size(1), pairs, static_cast<float>(base));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("rotary_", &rotary_); }
