"""On a real GPU: every seeded fault is found by the tool that its line names, the clean kernel by none, and the gate passes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.gpu_record import FAULTS, work
from sanitizers.gpu.compile import compile_text
from sanitizers.gpu.records import TOOLS
from sanitizers.gpu.toolkit import options
from sanitizers.gpu.watch import Machine, watch
from specs.policy import Policy
from specs.results import Outcome
from verifier.pipeline import Options, audit

pytestmark = pytest.mark.gpu
EXPECTED = re.compile(r"// (\w+check) ([\w-]+)$")
NEAR = {"asserts": {0}, "two_barriers": {100}}
"""Other places that the tool may name: none for a failed assertion, the other of two barriers."""
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def gpu(real_gpu: Machine) -> Machine:
    return real_gpu


def expectations() -> list[tuple[str, str, str, int]]:
    kernel, found = "", []
    for number, line in enumerate(FAULTS.read_text().splitlines(), 1):
        if name := re.search(r"__global__ void (\w+)\(", line):
            kernel = name[1]
        if said := EXPECTED.search(line):
            found.append((kernel, said[1], said[2], number))
    return found


@pytest.fixture(scope="module")
def cubin(gpu: Machine) -> bytes:
    assert gpu.toolkit.nvcc is not None
    text = f'# 1 "faults.cu"\n{FAULTS.read_text()}'
    return compile_text(gpu.toolkit.nvcc, text, arch=gpu.arch, sandbox=gpu.sandbox, cache=None)[0]


@pytest.mark.parametrize(("kernel", "tool", "property_", "line"), expectations())
def test_a_seeded_fault_is_found(
    gpu: Machine, cubin: bytes, kernel: str, tool: str, property_: str, line: int
) -> None:
    assert gpu.toolkit.sanitizer is not None
    if kernel == "uninit_shared" and "--initcheck-address-space" not in options(gpu.toolkit.sanitizer):
        pytest.skip("this version's initcheck looks at global memory only")
    seen = watch(gpu, tool, [work(cubin, kernel)], paths={"faults.cu"})
    found = {
        (f.property, s.line) for f in seen.findings for s in (f.span, f.other.span if f.other else f.span)
    }
    places = {line} | NEAR.get(kernel, set())
    assert {(property_, n) for n in places} & found, seen.trouble


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_complains_of_a_clean_kernel(gpu: Machine, cubin: bytes, tool: str) -> None:
    seen = watch(gpu, tool, [work(cubin, "clean")] * 3, paths={"faults.cu"})
    assert (seen.findings, seen.trouble, seen.control) == ((), "", True)


def test_the_gate_passes_a_proved_kernel_on_the_gpu(gpu: Machine) -> None:
    options_ = Options(Policy(sanitize="both"), sandbox=gpu.sandbox.kind, timeout=120.0)
    result = audit(EXAMPLES / "saxpy.cu", options_)
    assert result.verdict is Outcome.PASS, result.reasons
    faulty = audit(
        EXAMPLES / "faulty" / "saxpy_oob.cu",
        replace(options_, policy=Policy(sanitize="both", gpu_unknown=True)),
    )
    (sanitized,) = (g for g in faulty.gates if g.gate == "sanitize")
    assert faulty.verdict is Outcome.FAIL and not sanitized.facts["gpu"]["ran"]
