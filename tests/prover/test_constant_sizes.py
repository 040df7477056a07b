"""A size that must be one constant is a promise that is missing; one that any small size would do for is no excuse."""

from pathlib import Path

import pytest

from specs.policy import Policy
from specs.results import Outcome, Reason, Verdict
from verifier.pipeline import Options, audit

TEXT = """
#include <torch/extension.h>

__global__ void sums(const float* x, float* bins, int n, int rows) {
    for (INDEX i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * gridDim.x) atomicAdd(&bins[threadIdx.x], x[i]);
    if (blockIdx.x < rows) atomicAdd(&bins[threadIdx.x], x[blockIdx.x * 64 + threadIdx.x]);
}

torch::Tensor run(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "CUDA");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "type");
    TORCH_CHECK(x.dim() == 2 && x.numel() > 0 && x.size(0) <= 60000CHECK, "size");
    auto bins = torch::zeros({64}, x.options());
    sums<<<x.size(0), 64>>>(x.data_ptr<float>(), bins.data_ptr<float>(), x.numel(), x.size(0));
    return bins;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""


@pytest.mark.parametrize(
    ("index", "check", "verdict", "about"),
    [
        ("int", " && x.size(1) == 64", Outcome.PASS, ""),
        ("int", "", Outcome.INCONCLUSIVE, "bounds-global"),
        ("short", " && x.size(1) == 64", Outcome.FAIL, "overflow"),
    ],
)
def test_constants(index: str, check: str, verdict: Outcome, about: str, tmp_path: Path) -> None:
    path = tmp_path / "sums.cu"
    path.write_text(TEXT.replace("INDEX", index).replace("CHECK, ", f"{check}, "))
    policy = Policy.model_validate({"required_gates": ("static", "prove")})
    result = audit(path, Options(policy=policy, gates=("static", "prove"), timeout=200))
    assert result.verdict is verdict, (result.headline, result.reasons)
    made = {p.id: p for g in result.gates if g.gate == "prove" for k in g.kernels for p in k.properties}
    if verdict is Outcome.FAIL:
        assert made[about].verdict is Verdict.REFUTED
    if verdict is Outcome.INCONCLUSIVE:
        assert made[about].reason is Reason.MISSING_CONTRACT and "64" in made[about].detail
