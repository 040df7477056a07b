"""The gate: PASS needs a complete clean run, FAIL a fault, and everything else is INCONCLUSIVE with its reason."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sanitizers.simulator import SimulatorMissing
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import Span
from specs.policy import default_policy
from specs.results import Outcome, Severity
from verifier.gates import sanitize
from verifier.gates.context import GateContext
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText, Submission

GOOD = """__global__ void f(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
"""
KERNEL = ir.Kernel(
    "f",
    (),
    (ir.Param("x", ir.Pointer(ir.F32)), ir.Param("y", ir.Pointer(ir.F32)), ir.Param("n", ir.I32)),
    (),
    {},
    (),
)
CONTRACT = Contract(
    "f", (), Launch("f", (), ("ceil_div(n, 128)", "1", "1"), ("128", "1", "1")), (Symbol("n", "dim", low=1),),
    (Buffer("x", "f32", "n"), Buffer("y", "f32", "n", fresh=True, initialized=False)), (Scalar("n", "i32(n)"),), (), "stated",
)  # fmt: skip


@pytest.fixture
def gate(sandbox: Sandbox, simulator_cache: Path) -> Any:
    def run(
        source: str, *contracts: Contract, kernels: tuple[ir.Kernel, ...] = (KERNEL,), **options: Any
    ) -> Any:
        digest = hashlib.sha256(source.encode()).hexdigest()
        device = DeviceText('# 1 "k.cu"\n' + source, digest, (("f", Span("k.cu", 1)),))
        submission = Submission("k.cu", "cu", digest, source, device)
        context = GateContext(
            submission,
            ir.Module(kernels),
            contracts,
            default_policy(),
            sandbox,
            cache=simulator_cache,
            **options,
        )
        return sanitize.run(context)

    return run


def test_a_clean_kernel_passes_and_says_what_was_run(gate: Any) -> None:
    result = gate(GOOD, CONTRACT)
    assert result.outcome is Outcome.PASS and not result.findings and not result.detail
    assert result.facts["runs"] >= 16 and result.facts["blocks_run"] == result.facts["blocks_launched"] > 0
    (facts,) = result.facts["kernels"]
    assert any(launch["n"] > 128 for launch in facts["launches"]) and facts["complete"] == facts["runs"]


def test_a_fault_fails_with_a_replayed_witness(gate: Any) -> None:
    result = gate(GOOD.replace("i < n", "i <= n"), CONTRACT)
    assert result.outcome is Outcome.FAIL
    (finding,) = result.findings
    assert (finding.id, finding.span.line, finding.severity) == ("bounds-global", 3, Severity.ERROR)
    witness = finding.witness
    assert witness.replayed and witness.domain == "general" and witness.symbols["n"] % 128
    assert witness.buffers == {"x": witness.symbols["n"], "y": witness.symbols["n"]}
    assert witness.threads[0].action.startswith("reads x[")


def test_a_size_relation_that_explains_the_fault_is_a_missing_contract(gate: Any) -> None:
    two = replace(
        CONTRACT, symbols=(Symbol("n", "dim", low=1), Symbol("m", "dim", low=1)),
        buffers=(Buffer("x", "f32", "m"), CONTRACT.buffers[1]),
    )  # fmt: skip
    result = gate(GOOD, two)
    assert result.outcome is Outcome.INCONCLUSIVE and "missing contract" in result.detail
    assert result.facts["kernels"][0]["missing"] in (["n == m"], ["n <= m"])
    assert all(f.severity is Severity.WARNING and f.fix for f in result.findings)
    wrong = gate(GOOD.replace("i < n", "i <= n"), two)
    assert wrong.outcome is Outcome.FAIL
    stated = replace(two, requires=(Clause("n == m", "enforced"),))
    assert gate(GOOD, stated).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        (replace(CONTRACT, origin="drafted"), "only a draft"),
        (replace(CONTRACT, gaps=("the block size is not known",)), "the block size is not known"),
        (replace(CONTRACT, requires=(Clause("n < 0", "stated"),)), "no small launch"),
        (replace(CONTRACT, requires=(Clause("n <= 500", "stated", accepted=False),)), "accepted"),
        (replace(CONTRACT, kernel="g"), "could not be read"),
    ],
)
def test_what_is_not_known_is_inconclusive(contract: Contract, words: str, gate: Any) -> None:
    result = gate(GOOD, contract)
    assert result.outcome is Outcome.INCONCLUSIVE and words in result.detail


def test_no_contract_and_no_time_are_inconclusive(gate: Any) -> None:
    assert gate(GOOD).outcome is Outcome.INCONCLUSIVE
    late = gate(GOOD, CONTRACT, deadline=time.monotonic() - 1)
    assert late.outcome is Outcome.INCONCLUSIVE and "resources" in late.detail


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('asm volatile("mma.sync.aligned.m16n8k8" : : );', "inline assembler mma.sync.aligned.m16n8k8"),
        ("y[0] = tex2D<float>(0, 1, 2);", "tex2D is not known"),
        ("float* p = new float[4]; y[0] = p[0];", "operator new"),
        ("f<<<1, 1>>>(x, y, n);", "a launch from a kernel"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(body: str, words: str, gate: Any) -> None:
    result = gate(f"__global__ void f(const float* x, float* y, int n) {{ {body} }}", CONTRACT)
    assert (
        result.outcome is Outcome.INCONCLUSIVE and words in result.detail and "k.cu:1" in result.detail
    ) or words in result.detail


def test_a_fault_outranks_a_doubt(gate: Any) -> None:
    result = gate(GOOD.replace("i < n", "i <= n"), replace(CONTRACT, origin="drafted"), CONTRACT)
    assert result.outcome is Outcome.FAIL


def test_without_a_compiler_it_did_not_run(gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_: object) -> None:
        raise SimulatorMissing("g++ is missing: apt-get install g++")

    monkeypatch.setattr(sanitize, "selftest", missing)
    result = gate(GOOD, CONTRACT)
    assert result.outcome is Outcome.NOT_RUN and "apt-get install g++" in result.detail


def test_a_failing_self_test_is_an_error(gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitize, "selftest", lambda **_: "the check of a load does not fire")
    result = gate(GOOD, CONTRACT)
    assert result.outcome is Outcome.ERROR and "does not fire" in result.detail


def test_a_fault_that_depends_on_open_contents_is_a_missing_contract(gate: Any) -> None:
    source = """__global__ void f(const int* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[x[i]];
}
"""
    kernel = replace(KERNEL, params=(ir.Param("x", ir.Pointer(ir.I32)), *KERNEL.params[1:]))
    open_ = replace(CONTRACT, buffers=(Buffer("x", "i32", "n"), CONTRACT.buffers[1]))
    result = gate(source, open_, kernels=(kernel,))
    assert result.outcome is Outcome.INCONCLUSIVE and "contents of x" in result.detail
    bounded = replace(open_, buffers=(Buffer("x", "i32", "n", content=("0", "n")), CONTRACT.buffers[1]))
    result = gate(source, bounded, kernels=(kernel,))
    assert result.outcome is Outcome.FAIL and {f.id for f in result.findings} == {"bounds-global"}


def test_an_open_scalar_may_need_to_be_positive(gate: Any) -> None:
    source = """__global__ void f(const float* x, float* y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i / k];
}
"""
    kernel = replace(KERNEL, params=(*KERNEL.params, ir.Param("k", ir.I32)))
    open_ = replace(
        CONTRACT,
        symbols=(*CONTRACT.symbols, Symbol("k", "scalar")),
        scalars=(*CONTRACT.scalars, Scalar("k", "k")),
    )
    result = gate(source, open_, kernels=(kernel,))
    assert result.outcome is Outcome.INCONCLUSIVE and "k > 0" in result.detail
    checked = replace(open_, requires=(Clause("k >= 0", "enforced"),))
    result = gate(source, checked, kernels=(kernel,))
    assert result.outcome is Outcome.FAIL and result.findings[0].id == "arithmetic"
    assert (
        gate(source, replace(open_, requires=(Clause("k > 0", "enforced"),)), kernels=(kernel,)).outcome
        is Outcome.PASS
    )


def test_what_the_runs_covered_is_told(gate: Any) -> None:
    """Of the kernel and what it calls: not of the file's other kernels."""
    source = """__device__ float scaled(float v, int n) {
  if (n > 1000000)
    return 3.0f * v;
  return 2.0f * v;
}
__device__ float other_help(float v) { return v - 1.0f; }
__global__ void other(float* y) { y[threadIdx.x] = other_help(y[0]); }
__global__ void f(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scaled(x[i], n);
}
"""
    result = gate(source, CONTRACT)
    assert result.outcome is Outcome.PASS
    assert result.facts["not_run"] == ["k.cu:3"] and 3 < result.facts["lines"] < 9
