"""Sizes that host code computes in int out of arguments that nothing bounds: the wrap is shown, and nothing is proved."""

from pathlib import Path

import pytest

from specs.policy import Policy
from specs.results import Verdict
from verifier.pipeline import Options, audit

TEXT = """
#include <torch/extension.h>

__global__ void slide(const float* x, float* y, int n, int m, int stride, int padding) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= m) return;
    long long at = (long long)i * stride - padding;
    y[i] = at >= 0 && at < n ? x[at] : 0.0f;
}

torch::Tensor run(torch::Tensor x, int stride, int padding, int kernel) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 1 && x.numel() > 0 && x.numel() <= 1000000, "x");
    CHECK
    TYPE padded = x.size(0) + 2 * padding - kernel;
    int m = padded / stride + 1;
    TORCH_CHECK(m > 0, "the output is empty");
    auto y = torch::empty({m}, x.options());
    slide<<<(m + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), m, stride, padding);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""
SMALL = 'TORCH_CHECK(stride >= 1 && padding >= 0 && padding <= 64 && kernel >= 1 && kernel <= 64, "sizes");'


@pytest.mark.parametrize(
    ("check", "type_", "wanted"),
    [
        ("", "int", Verdict.REFUTED),
        (SMALL, "int", Verdict.PROVED),
        (SMALL.replace("padding <= 64", "padding <= (1 << 30)"), "int", Verdict.REFUTED),
        (SMALL.replace("kernel >= 1", "kernel >= -64"), "size_t", None),  # below 0 it wraps far beyond int
    ],
)
def test_overflow(check: str, type_: str, wanted: Verdict | None, tmp_path: Path) -> None:
    path = tmp_path / "slide.cu"
    path.write_text(TEXT.replace("CHECK\n", f"{check}\n").replace("TYPE", type_))
    policy = Policy.model_validate({"required_gates": ("static", "prove")})
    result = audit(path, Options(policy=policy, gates=("static", "prove"), timeout=200))
    (overflow,) = (
        p
        for g in result.gates
        if g.gate == "prove"
        for k in g.kernels
        for p in k.properties
        if p.id == "overflow"
    )
    if wanted is not None:
        assert overflow.verdict is wanted, overflow.detail
    else:
        assert overflow.verdict is not Verdict.PROVED
