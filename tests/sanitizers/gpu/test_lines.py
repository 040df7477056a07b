"""A place in a vendor's header is told as the user's line that called it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sanitizers.gpu.compile import compile_text
from sanitizers.gpu.lines import Lines
from verifier.isolation import Sandbox

NVCC = shutil.which("nvcc")
SOURCE = """# 1 "k.cu"
__device__ int twice(int v) { return 2 * v; }
extern "C" __global__ void count(int* x, int n) {
  if (n > 3)
    atomicAdd(x + threadIdx.x, twice(n));
}
extern "C" __global__ void other(int* x) { x[threadIdx.x] = 1; }
"""


def test_what_is_no_cubin_has_no_lines() -> None:
    for data in (b"", b"\x7fELF", b"\0" * 5000):
        assert Lines(data, "count").rows == [] and not Lines(data, "count").caller(0, 1, {"k.cu"}).line


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_an_inlined_row_leads_to_its_caller(sandbox: Sandbox) -> None:
    assert NVCC is not None
    cubin, _ = compile_text(Path(NVCC), SOURCE, arch="sm_90", sandbox=sandbox, cache=None)
    lines = Lines(cubin, "count")
    inlined = [r for r in lines.rows if r.path.endswith(".hpp")]
    assert inlined and all(r.caller for r in inlined)
    assert {str(lines.caller(r.address, r.line, {"k.cu"})) for r in inlined} == {"k.cu:4"}
    assert not lines.caller(inlined[0].address, 99999, {"k.cu"}).line  # another function's offset
    assert {r.line for r in Lines(cubin, "other").rows} == {6}
