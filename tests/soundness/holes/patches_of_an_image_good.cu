// Each thread copies one number of a patch; the patches lie row by row, as many as fit.
#include <torch/extension.h>

__global__ void gather(const float* image, float* out, int batch, int channels, int size, int patch, int count) {
    int inner = channels * patch * patch, across = size / patch;
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= batch * count * inner) {
        return;
    }
    int b = idx / (count * inner);
    int number = (idx % (count * inner)) / inner;
    int rest = idx % inner;
    int c = rest / (patch * patch), y = (rest / patch) % patch, x = rest % patch;
    int row = number / across * patch + y, column = number % across * patch + x;
    out[idx] = image[((b * channels + c) * size + row) * size + column];
}

torch::Tensor patches(torch::Tensor image) {
    TORCH_CHECK(image.is_cuda() && image.is_contiguous() && image.scalar_type() == torch::kFloat32);
    TORCH_CHECK(image.dim() == 4 && image.numel() > 0 && image.size(2) == image.size(3));
    int batch = image.size(0), channels = image.size(1), size = image.size(2), patch = 8;
    int count = (size / patch) * (size / patch);
    auto out = torch::empty({batch, count, channels * patch * patch}, image.options());
    int total = batch * count * channels * patch * patch;
    gather<<<(total + 255) / 256, 256>>>(
        image.data_ptr<float>(), out.data_ptr<float>(), batch, channels, size, patch, count);
    return out;
}
