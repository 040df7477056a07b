"""What may reach a GPU, and what the gate says of it; the GPU and its tool are fakes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sanitizers.gpu import campaign
from sanitizers.gpu.compile import Compiled
from sanitizers.gpu.watch import GpuMissing, Machine
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import Span
from specs.policy import REQUIRED_PROPERTIES, Policy, default_policy
from specs.results import (
    Finding,
    GateResult,
    KernelResult,
    Outcome,
    PropertyResult,
    Severity,
    Verdict,
    Witness,
)
from verifier.gates import gpu, sanitize
from verifier.gates.context import GateContext
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText, Submission

from .conftest import CONTROL, FAULT, fake_tool

SOURCE = """__global__ void f(const float* x, float* y, int n) {
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
GREEN = tuple(PropertyResult(p, Verdict.PROVED) for p in REQUIRED_PROPERTIES)
PROVED = GateResult("prove", Outcome.PASS, kernels=(KernelResult("f", (), CONTRACT, GREEN),))
WITNESS = Witness((1, 1, 1), (128, 1, 1), 0, {"n": 1}, {"n": 1}, {"x": 1, "y": 1}, (), replayed=True)


@pytest.fixture
def context(sandbox: Sandbox, simulator_cache: Path) -> GateContext:
    digest = hashlib.sha256(SOURCE.encode()).hexdigest()
    device = DeviceText('# 1 "k.cu"\n' + SOURCE, digest, (("f", Span("k.cu", 1)),))
    return GateContext(
        Submission("k.cu", "cu", digest, SOURCE, device),
        ir.Module((KERNEL,)),
        (CONTRACT,),
        default_policy(),
        sandbox,
        cache=simulator_cache,
        backend="gpu",
        earlier=(PROVED,),
        effort="low",
    )


@pytest.fixture
def with_gpu(fake_gpu: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(tool: Path | None = None, behaviour: str = "three parameters") -> None:
        made = fake_gpu(tool, behaviour)
        monkeypatch.setattr(gpu, "machine", lambda *_: made)
        monkeypatch.setattr(campaign, "compile_kernel", lambda *_, **__: Compiled(b"cubin", "f"))

    return use


def test_a_proved_kernel_that_no_tool_complains_of_passes(
    context: GateContext, with_gpu: Callable[..., None]
) -> None:
    with_gpu()
    alone = sanitize.run(context)
    assert alone.outcome is Outcome.INCONCLUSIVE and "policy asks for the backend sim" in alone.detail
    assert alone.not_checked[0] == "not run in the simulator"
    result = sanitize.run(replace(context, policy=Policy(sanitize="gpu")))
    assert result.outcome is Outcome.PASS and not result.detail
    facts = result.facts["gpu"]
    assert facts["ran"] and facts["device"] == "fake" and facts["compute-sanitizer"] == "2025.3.1.0"
    assert facts["kernels"][0]["clean"] == ["memcheck", "racecheck", "initcheck", "synccheck"]
    both = sanitize.run(replace(context, backend="both"))
    assert both.outcome is Outcome.PASS and both.facts["runs"] > 0 and both.facts["gpu"]["ran"]
    assert both.facts["backend"] == "simulator, compute-sanitizer"


def test_a_record_fails_the_gate_with_the_launch_that_shows_it(
    context: GateContext, with_gpu: Callable[..., None], tmp_path: Path
) -> None:
    with_gpu(fake_tool(tmp_path / "tool", FAULT, CONTROL))
    result = sanitize.run(context)
    assert result.outcome is Outcome.FAIL
    (finding,) = result.findings
    assert (finding.id, finding.span.line, finding.severity) == ("bounds-global", 3, Severity.ERROR)
    assert finding.witness is not None and finding.witness.replayed
    assert finding.witness.replayed_by == "compute-sanitizer (memcheck) on fake"
    assert list(result.facts["gpu"]["kernels"][0]["seconds"]) == ["memcheck"]  # nothing runs after it


def test_a_tool_that_does_not_watch_is_an_error_of_the_gate(
    context: GateContext, with_gpu: Callable[..., None]
) -> None:
    with_gpu(Path("/bin/true"))
    result = sanitize.run(replace(context, backend="both"))
    assert result.outcome is Outcome.ERROR and "did not watch" in result.detail


def test_without_a_gpu_the_gate_did_not_run(context: GateContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> Machine:
        raise GpuMissing("driver is missing: install it")

    monkeypatch.setattr(gpu, "machine", none)
    assert sanitize.run(context).outcome is Outcome.NOT_RUN
    both = sanitize.run(replace(context, backend="both"))
    assert both.outcome is Outcome.INCONCLUSIVE and both.detail == "GPU: driver is missing: install it"
    assert (
        sanitize.run(replace(context, backend="sim", policy=Policy(sanitize="both"))).outcome
        is Outcome.INCONCLUSIVE
    )


def result(verdict: Verdict, id_: str = "bounds-global") -> GateResult:
    properties = tuple(replace(p, verdict=verdict) if p.id == id_ else p for p in GREEN)
    return GateResult("prove", Outcome.INCONCLUSIVE, kernels=(KernelResult("f", (), CONTRACT, properties),))


def shown(severity: Severity, domain: str = "general") -> GateResult:
    witness = replace(WITNESS, domain=domain)
    finding = Finding("bounds-global", severity, Span("k.cu", 3), "outside", "f", witness)
    return GateResult("sanitize", Outcome.INCONCLUSIVE, findings=(finding,))


KEPT_AWAY: dict[str, tuple[tuple[GateResult, ...], str]] = {
    "refuted": ((result(Verdict.REFUTED),), "nothing refuted reaches a GPU"),
    "two readers disagree": ((result(Verdict.ERROR),), "nothing refuted reaches a GPU"),
    "a failed gate": ((PROVED, GateResult("static", Outcome.FAIL)), "static says FAIL"),
    "an internal error": ((PROVED, GateResult("static", Outcome.ERROR)), "static says ERROR"),
    "seen in the simulator": ((PROVED, shown(Severity.ERROR)), "shows bounds-global"),
    "seen, but a clause is missing": ((PROVED, shown(Severity.WARNING)), "shows bounds-global"),
    "unknown": ((result(Verdict.UNKNOWN),), "only by policy"),
    "a property without a verdict": (
        (replace(PROVED, kernels=(KernelResult("f", (), CONTRACT, ()),)),),
        "only by policy",
    ),
    "not proved at all": ((), "only by policy"),
}


@pytest.mark.parametrize("case", KEPT_AWAY)
def test_what_does_not_reach_a_gpu(context: GateContext, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr(gpu, "machine", lambda *_: pytest.fail("it reached the GPU"))
    earlier, why = KEPT_AWAY[case]
    found = sanitize.run(replace(context, earlier=earlier))
    assert found.outcome is Outcome.NOT_RUN and why in found.detail
    if "only by policy" not in why:
        allowed = sanitize.run(replace(context, earlier=earlier, policy=Policy(gpu_unknown=True)))
        assert allowed.outcome is Outcome.NOT_RUN and why in allowed.detail


@pytest.mark.parametrize(
    "contract",
    [
        replace(CONTRACT, origin="drafted"),
        replace(CONTRACT, gaps=("the grid is not known",)),
        replace(CONTRACT, requires=(Clause("n < 5", "stated", accepted=False),)),
    ],
)
def test_a_launch_that_nobody_vouches_for_does_not_reach_a_gpu(
    context: GateContext, monkeypatch: pytest.MonkeyPatch, contract: Contract
) -> None:
    monkeypatch.setattr(gpu, "machine", lambda *_: pytest.fail("it reached the GPU"))
    policy = Policy(gpu_unknown=True)
    assert sanitize.run(replace(context, contracts=(contract,), policy=policy)).outcome is Outcome.NOT_RUN


def test_the_unknown_reaches_a_gpu_by_policy(context: GateContext, with_gpu: Callable[..., None]) -> None:
    with_gpu()
    policy = Policy(sanitize="gpu", gpu_unknown=True)
    unknown = replace(
        context, earlier=(result(Verdict.UNKNOWN), shown(Severity.WARNING, "edge")), policy=policy
    )
    assert sanitize.run(unknown).outcome is Outcome.PASS
