"""The launch recorder's two steps that need no GPU, and the comparison with nvcc."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks import compiler_agreement, launch_recorder
from benchmarks.contract_oracle import check
from verifier.isolation.sandbox import SandboxMissing, probe

LAUNCHER = """#include <torch/extension.h>
template <typename T> __global__ void copy(const T *x, T *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  if (x.numel() > 0) copy<float><<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    try:
        kind = probe().kind
    except SandboxMissing:
        kind = "none"
    path = tmp_path / "copy.cu"
    path.write_text(LAUNCHER)
    arguments = argparse.Namespace(sandbox=kind, root=None, include=[], shapes=4, seed=0, launch=True)
    assert launch_recorder.prepare(path, tmp_path / "task", arguments) == 1
    return tmp_path / "task"


def record(grid: int, numel: int, **x: Any) -> dict[str, Any]:
    memory = {"kind": "pointer", "const": True, "initialised": True, "zero": True, "written": True}
    args = {
        "x": {**memory, "address": 1 << 20, "memory": 1 << 20, "offset": 0, "bytes": 4 * numel, "fresh": False, "extent": 4 * numel, **x},
        "y": {**memory, "address": 1 << 24, "memory": 1 << 24, "offset": 0, "bytes": 4 * numel, "fresh": True, "extent": -1},
        "n": {"kind": "int", "value": numel},
    }  # fmt: skip
    return {
        "kernel": "copy", "line": 5, "grid": [grid, 1, 1], "block": [256, 1, 1], "shared": 0, "targs": ["float"],
        "args": args, "memories": {str(1 << 20): 0},
    }  # fmt: skip


def test_each_launch_is_told_to_a_twin_first_and_the_own_binding_is_gone(prepared: Path) -> None:
    text = (prepared / "recorded.cu").read_text()
    assert "vk_copy<float>(x.data_ptr<float>()" in text and "copy<float><<<" in text
    assert text.index("vk::configure(5, ") < text.index("vk_copy<float>(") < text.index(", copy<float><<<")
    assert text.count("PYBIND11_MODULE") == 1 and 'm.def("vk_take"' in text
    task = json.loads((prepared / "task.json").read_text())
    assert len(task["entries"]["run"]) == 4


@pytest.mark.parametrize(
    "grid, numel, x, fits",
    [
        (2, 300, {}, True),
        (3, 300, {}, False),
        (2, 300, {"bytes": 1196}, False),
        (2, 300, {"extent": 1204, "bytes": 1204}, False),
    ],
)
def test_records_are_compared_with_the_contracts(
    prepared: Path, grid: int, numel: int, x: dict[str, Any], fits: bool
) -> None:
    task = json.loads((prepared / "task.json").read_text())
    tensor = {"dtype": "f32", "sizes": [300], "strides": [1], "misalign": 0, "cpu": False, "alias": -1}
    task["entries"]["run"] = [[tensor]]
    (prepared / "task.json").write_text(json.dumps(task))
    line = {"task": "task", "entry": "run", "case": 0, "end": "done", "launches": [record(grid, numel, **x)]}
    (seen,) = launch_recorder.observed(prepared, [line])
    result = check(seen)
    assert bool(result.outcomes["fits"]) == fits and bool(result.differs) != fits


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_agreement_with_nvcc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.cu", tmp_path / "bad.cu"
    good.write_text(
        "template <int N> __global__ void k(float* x) { x[threadIdx.x] = __expf(N); }\nvoid f(float* x) { k<3><<<1, 32>>>(x); }\n"
    )
    bad.write_text(
        "__global__ void k(float* x) { x[threadIdx.w] = undeclared; }\nvoid f(float* x) { k<<<1, 32>>>(x); }\n"
    )
    assert compiler_agreement.main([str(good), str(bad), "--sandbox", "none"]) == 0
    said = capsys.readouterr().out
    assert "we accept, nvcc accepts: 1" in said and "we refuse, nvcc refuses: 1" in said
