"""Whole models: ModelNew with several launches and PyTorch around them, in a sandbox, against Model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.whole import scales
from fuzz.whole.explore import matched
from fuzz.whole.session import Array, Stopped, concrete, spoilt
from specs.policy import default_policy
from specs.results import GateResult, Outcome
from verifier.contracts import problem as problems
from verifier.ir import nodes as ir
from verifier.isolation import probe
from verifier.pipeline import Options, audit

PROBLEM = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    """Convolution, leaky ReLU, a shift for each channel, the mean of each row, a scale."""
    def __init__(self, inside, outside, window, slope):
        super().__init__()
        self.mix = nn.Conv2d(inside, outside, window)
        self.shift = nn.Parameter(torch.randn(outside, 1, 1))
        self.slope = slope

    def forward(self, x):
        y = torch.nn.functional.leaky_relu(self.mix(x), self.slope) + self.shift
        return torch.mean(y, dim=3) * 2.0

images, inside, outside, side, window = 4, 2, 4, 8, 3

def get_inputs():
    return [torch.randn(images, inside, side, side)]

def get_init_inputs():
    return [inside, outside, window, 0.125]
'''
SUBMISSION = r'''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp = "torch::Tensor shifted(torch::Tensor x, torch::Tensor shift, double slope); torch::Tensor row_means(torch::Tensor x);"
cuda = """
#include <torch/extension.h>

__global__ void bend(const float* x, const float* shift, float* y, float slope, int channels, int plane, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float v = x[i];
        y[i] = (v > 0.0f ? v : v * slope) + shift[i / plane % channels];
    }
}

__global__ void total(const float* x, float* y, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) sum += x[row * width + j];
    y[row] = sum;
}

torch::Tensor shifted(torch::Tensor x, torch::Tensor shift, double slope) {
    TORCH_CHECK(x.is_cuda() && x.dim() == 4 && x.scalar_type() == torch::kFloat32, "x");
    TORCH_CHECK(shift.numel() == x.size(1), "shift");
    auto in = x.contiguous();
    auto y = torch::empty_like(in);
    int count = in.numel();
    if (count > 0)
        bend<<<(count + 127) / 128, 128>>>(in.data_ptr<float>(), shift.contiguous().data_ptr<float>(), y.data_ptr<float>(),
                                           (float)slope, in.size(1), in.size(2) * in.size(3), count);
    return y;
}

torch::Tensor row_means(torch::Tensor x) {
    auto in = x.contiguous();
    auto y = torch::empty({in.size(0), in.size(1), in.size(2)}, in.options());
    int rows = y.numel(), width = in.size(3);
    if (rows > 0) total<<<(rows + 63) / 64, 64>>>(in.data_ptr<float>(), y.data_ptr<float>(), rows, width);
    return y.div((double)width);
}
"""
ext = load_inline(name="ext", cpp_sources=[cpp], cuda_sources=[cuda], functions=["shifted", "row_means"])

class ModelNew(nn.Module):
    def __init__(self, inside, outside, window, slope):
        super().__init__()
        self.mix = nn.Conv2d(inside, outside, window)
        self.shift = nn.Parameter(torch.randn(outside, 1, 1))
        self.slope = slope

    def forward(self, x):
        y = ext.shifted(self.mix(x.cuda()), self.shift, self.slope)
        return ext.row_means(y) * 2.0
'''


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture
def fuzzed(tmp_path: Path, programs: Path) -> Callable[..., GateResult]:
    pytest.importorskip("torch", reason="the reference needs PyTorch")

    def run(submission: str, *, run_wrapper: bool = True, problem: str = PROBLEM) -> GateResult:
        (tmp_path / "problem.py").write_text(problem)
        (tmp_path / "submission.py").write_text(submission)
        options = Options(
            policy=default_policy(), problem=tmp_path / "problem.py", gates=("fuzz",), effort="low", timeout=300,
            run_wrapper=run_wrapper, cache=programs, keep=tmp_path / "kept",
        )  # fmt: skip
        found = audit(tmp_path / "submission.py", options)
        assert found.gates, found
        return found.gates[0]

    return run


def changed(old: str, new: str) -> str:
    assert old in SUBMISSION
    return SUBMISSION.replace(old, new)


def test_several_launches_with_torch_around_them_pass(fuzzed: Callable[..., GateResult]) -> None:
    result = fuzzed(SUBMISSION)
    assert result.outcome is Outcome.PASS, result.detail
    (facts,) = result.facts["kernels"][-1:]
    assert facts["examples"] >= 8 and set(facts["launched"]) == {"bend", "total"}
    assert "by name" in facts["compared"]


def test_host_code_is_not_run_unless_that_was_asked_for(fuzzed: Callable[..., GateResult]) -> None:
    result = fuzzed(SUBMISSION, run_wrapper=False)
    assert result.outcome is Outcome.INCONCLUSIVE and "--run-wrapper" in result.detail


def test_a_dropped_term_fails(fuzzed: Callable[..., GateResult]) -> None:
    result = fuzzed(changed(" + shift[i / plane % channels]", ""))
    assert result.outcome is Outcome.FAIL
    assert result.findings[0].id == "numerics" and "of ModelNew is" in result.findings[0].message


@pytest.mark.sweep
def test_a_kernel_that_does_not_matter_does_not_pass(fuzzed: Callable[..., GateResult]) -> None:
    decoy = changed(
        "        return ext.row_means(y) * 2.0",
        "        return torch.mean(y, dim=3) * 2.0 + 0.0 * ext.row_means(y).isnan()",
    )
    result = fuzzed(decoy)
    assert result.outcome is Outcome.INCONCLUSIVE and "what total writes is not noticed" in result.detail


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[row * width + j]", "x[row * width + (j > 0 ? j : 0)] + (j == 1 ? 0.01f : 0.0f)"),
        ("self.mix(x.cuda()), self.shift", "self.mix(x.cuda()), self.mix.bias"),
        ("return ext.row_means(y) * 2.0", "return ext.row_means(y.transpose(2, 3)) * 2.0"),
        ("for (int j = 0; j < width; ++j)", "for (int j = 0; j + 1 < width; ++j)"),
    ],
    ids=["constant", "parameters", "axis", "short"],
)
def test_wrong_twins_fail(fuzzed: Callable[..., GateResult], old: str, new: str) -> None:
    result = fuzzed(changed(old, new))
    assert result.outcome is Outcome.FAIL, result.detail


@pytest.mark.sweep
def test_a_fallback_to_torch_does_not_pass(fuzzed: Callable[..., GateResult]) -> None:
    result = fuzzed(
        changed(
            "        y = ext.shifted(self.mix(x.cuda()), self.shift, self.slope)\n        return ext.row_means(y) * 2.0",
            "        try:\n            y = ext.shifted(self.mix(x), self.shift[:0], self.slope)\n        except RuntimeError:\n"
            "            y = torch.nn.functional.leaky_relu(self.mix(x), self.slope) + self.shift\n        return y.mean(dim=3) * 2.0",
        )
    )
    assert result.outcome is Outcome.INCONCLUSIVE and "launches no kernel" in result.detail


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (
            "if not self.kept:\n            self.kept.append(ext.row_means(ext.shifted(self.mix(x), self.shift, self.slope)) * 2.0)\n"
            "        return self.kept[0]",
            "after 12 other calls",
        ),
        (
            "return (ext.row_means(ext.shifted(self.mix(x), self.shift, self.slope)) * 2.0).half()",
            "holds float16",
        ),
    ],
    ids=["first-result", "half"],
)
def test_kept_results_and_other_types_fail(
    fuzzed: Callable[..., GateResult], forward: str, words: str
) -> None:
    text = changed(
        "        y = ext.shifted(self.mix(x.cuda()), self.shift, self.slope)\n        return ext.row_means(y) * 2.0",
        f"        {forward}",
    ).replace("        self.slope = slope\n", "        self.slope = slope\n        self.kept = []\n")
    result = fuzzed(text)
    assert result.outcome is Outcome.FAIL and words in result.detail, result.detail


@pytest.mark.sweep
def test_an_exception_on_garbage_is_no_use_of_the_kernel(fuzzed: Callable[..., GateResult]) -> None:
    text = changed(
        "        return ext.row_means(y) * 2.0",
        "        z = torch.mean(y, dim=3) * 2.0\n        if not torch.allclose(z, ext.row_means(y) * 2.0, atol=0.01):\n"
        "            raise RuntimeError('no')\n        return z",
    )
    result = fuzzed(text)
    assert result.outcome is Outcome.INCONCLUSIVE and "what total writes is not noticed" in result.detail


@pytest.mark.sweep
def test_code_of_the_submission_cannot_decide(fuzzed: Callable[..., GateResult]) -> None:
    """It runs before the answer is sent, writes frames and exit codes; nothing of that is a verdict."""
    evil = (
        "import os, json, struct\n"
        "def say(d):\n    t = json.dumps({**d, 'blobs': []}).encode()\n    os.write(1, struct.pack('<Q', len(t)) + t)\n"
        "for fd in range(1, 16):\n    try:\n        os.write(fd, struct.pack('<Q', 24) + b'{\"done\": [], \"blobs\": []} ')\n    except OSError:\n        pass\n"
        + SUBMISSION
    )
    assert fuzzed(evil).outcome is Outcome.INCONCLUSIVE
    quits = changed(
        "    def forward(self, x):\n", "    def forward(self, x):\n        import os; os._exit(0)\n"
    )
    result = fuzzed(quits)
    assert result.outcome is Outcome.INCONCLUSIVE and "has ended" in result.detail


@pytest.mark.sweep
def test_a_fault_in_a_launch_points_to_sanitize(fuzzed: Callable[..., GateResult]) -> None:
    result = fuzzed(changed("if (row >= rows) return;", "if (row > rows) return;"))
    assert result.outcome is Outcome.INCONCLUSIVE and "see sanitize" in result.detail


def test_sizes_are_scaled_down_and_stay_small(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    problem = problems.load(tmp_path / "problem.py", sandbox=probe())
    found = list(scales.candidates(problem, seed=0))
    assert found == list(scales.candidates(problem, seed=0)) and len(found) > 10
    for sizes in found:
        assert sizes.keys() and sizes["images"] * sizes["inside"] * sizes["side"] ** 2 <= scales.ELEMENTS
    assert all(s["window"] == 3 for s in found) and any(s["images"] % 2 for s in found)
    assert [scales.scaled(v, 8) for v in (3, 8, 64, 12, 100, 1023)] == [3, 8, 8, 6, 7, 7]


def test_sizes_that_the_code_around_asks_for_are_taken_too(tmp_path: Path) -> None:
    text = PROBLEM.replace(
        "images, inside, outside, side, window = 4,", "images, inside, outside, side, window = 400,"
    )
    (tmp_path / "problem.py").write_text(text)
    problem = problems.load(tmp_path / "problem.py", sandbox=probe())
    asks = changed(
        "        return ext.row_means(y)",
        "        if 100 < x.shape[0] or x.numel() > 10**9 or x.dim() != 4:\n            return y\n        return ext.row_means(y)",
    )
    assert scales.steps(asks, problem) == [100] and scales.steps(SUBMISSION, problem) == []
    extra = scales.beyond([100], problem)
    assert extra == [{"images": 101}]
    assert any(s["images"] == 101 for s in scales.candidates(problem, seed=0, extra=extra))


def test_parameters_are_matched_by_name_then_by_contents() -> None:
    def array(data: bytes) -> Array:
        return Array("float32", (1,), data)

    model = {"fc.weight": array(b"1234"), "fc.bias": array(b"5678"), "scale": array(b"9999")}
    own = {"fc.weight": array(b"abcd"), "b": array(b"5678"), "other": array(b"....")}
    assert matched(own, model) == ({"fc.weight": "fc.weight", "b": "fc.bias", "other": "scale"}, True)
    assert matched({"b": array(b"5678")}, model) == ({"b": "fc.bias"}, False)
    assert matched({"b": array(b"none")}, model) == ({}, False)


def test_garbage_changes_only_what_was_written() -> None:
    before, after = bytes(8), bytes(4) + b"\x00\x00\x80\x3f"
    other = spoilt(before, after, "f32", 0)
    assert other[:4] == bytes(4) and other[4:] != after[4:]
    assert spoilt(bytes(4), b"\x05\x00\x00\x00", "i32", 0) == bytes(4)


def test_a_launch_is_read_from_the_bytes_of_its_arguments() -> None:
    pointer = ir.Pointer(ir.F32, True)
    params = (ir.Param("x", pointer), ir.Param("bias", pointer), ir.Param("n", ir.I32), ir.Param("a", ir.F32))
    kernel = ir.Kernel("k", (), params, (), {p.name: p.type for p in params}, ())
    asked = {
        "args": {"x": (104).to_bytes(8, "little").hex(), "bias": "00" * 8, "n": "feffffff", "a": "0000003f"},
        "grid": [2, 1, 1], "block": [32, 1, 1], "shared": 0,
    }  # fmt: skip
    launch, data, places = concrete(kernel, asked, [100], [bytes(range(16))])
    assert launch.scalars == {"n": -2, "a": 0.5} and places == {"x": (0, 4)}
    assert data["x"] == bytes(range(4, 16)) and launch.buffers[0].numel == 3
    with pytest.raises(Stopped, match="no memory"):
        concrete(kernel, asked, [300], [bytes(16)])
