"""Data-dependent paths are entered: values at the kernel's own constants, and examples that run more of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.fuzz_kernels import job_of
from fuzz.executor import SimulatorExecutor
from fuzz.landmarks import branches_on_data, landmarks
from fuzz.oracle import Oracle
from fuzz.runner import Budget, explore
from verifier import frontend, source
from verifier.ir import nodes as ir
from verifier.isolation import probe

KERNEL = """__global__ void gelu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i], w = v * 0.70710678f;
        if (CONDITION) {
            w = w + 0.25f;
            y[i] = w;
        }
        y[i] = 0.5f * v * (1.0f + erff(w));
    }
}"""


def kernel_of(text: str, folder: Path) -> ir.Kernel:
    path = folder / "gelu.cu"
    path.write_text(text)
    device = source.load(path, root=None, sandbox=probe()).device
    return frontend.parse_device(device, (), sandbox=probe()).kernels[0]


def test_constants_that_are_compared_come_first(tmp_path: Path) -> None:
    kernel = kernel_of(KERNEL.replace("CONDITION", "v > 777.5f"), tmp_path)
    found = landmarks(kernel)
    assert found[0] == 777.5 and len(found) == len(set(found)) and 0.25 in found


@pytest.mark.parametrize(
    ("condition", "on_data"), [("v > 2.0f", True), ("w * 2.0f > v", True), ("n > 2", False)]
)
def test_branches_on_data(condition: str, on_data: bool, tmp_path: Path) -> None:
    assert branches_on_data(kernel_of(KERNEL.replace("CONDITION", condition), tmp_path)) == on_data


@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulator needs g++")
def test_a_narrow_path_is_entered_and_a_dead_one_reported(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the reference needs PyTorch")
    found = {}
    with Oracle(probe()) as oracle:
        for name, condition in (
            ("narrow", "v > 1.25f && v < 1.2500004f"),
            ("dead", "v > 3.0e38f && n == 12345"),
        ):
            (tmp_path / "gelu.cu").write_text(KERNEL.replace("CONDITION", condition))
            job, device = job_of("gelu", tmp_path)
            with SimulatorExecutor(device, job.kernel, probe(), cache=tmp_path, blocks=True) as executor:
                found[name] = explore(job, executor, oracle, Budget(100))
    assert found["narrow"].fault is not None
    assert found["dead"].fault is None and {s.line for s in found["dead"].not_run} >= {6}
