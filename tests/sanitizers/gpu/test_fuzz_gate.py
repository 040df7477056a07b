"""The fuzz gate on a GPU that is a fake driver computing relu: what runs there, what the report says, what is never green."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz_gpu import Worker
from fuzz import gpu as executors
from fuzz.oracle import Oracle
from sanitizers.gpu import service as services
from sanitizers.gpu.compile import Compiled, NotCompiled
from sanitizers.gpu.watch import GpuMissing, Machine
from specs.contract import Buffer, Contract, Launch, Scalar, Symbol
from specs.policy import REQUIRED_PROPERTIES, Policy
from specs.results import GateResult, KernelResult, Outcome, PropertyResult, Severity, Verdict
from verifier import frontend, source
from verifier.agreement import agree
from verifier.gates import fuzz, gpu
from verifier.gates.context import GateContext
from verifier.isolation import Sandbox
from verifier.judge import Case, judge

from .conftest import CONTROL, FAULT, fake_tool

pytest.importorskip("torch", reason="the reference needs PyTorch")

SOURCE = """__global__ void f(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}
"""
CONTRACT = Contract(
    "f", (), Launch("f", (), ("ceil_div(n, 64)", "1", "1"), ("64", "1", "1")), (Symbol("n", "dim", low=1),),
    (Buffer("x", "f32", "n", ("n",)), Buffer("y", "f32", "n", ("n",), fresh=True, initialized=False)),
    (Scalar("n", "i32(n)"),), (), "stated",
)  # fmt: skip
GREEN = tuple(PropertyResult(p, Verdict.PROVED) for p in REQUIRED_PROPERTIES)
PROVED = GateResult("prove", Outcome.PASS, kernels=(KernelResult("f", (), CONTRACT, GREEN),))
UNKNOWN = replace(PROVED, outcome=Outcome.INCONCLUSIVE, kernels=(KernelResult("f", (), CONTRACT, ()),))
ON_GPU = Policy(sanitize="gpu")


@pytest.fixture(scope="module")
def parsed(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("kernel") / "k.cu"
    path.write_text(SOURCE)
    submission = source.load(path, root=path.parent, sandbox=sandbox)
    return submission, frontend.parse_device(submission.device, (), sandbox=sandbox)


@pytest.fixture(scope="module")
def oracle(sandbox: Sandbox) -> Iterator[Oracle]:
    with Oracle(sandbox) as running:
        yield running


@pytest.fixture(autouse=True)
def one_oracle(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "Oracle", lambda *_, **__: contextlib.nullcontext(oracle))


@pytest.fixture
def context(parsed: Any, sandbox: Sandbox, simulator_cache: Path, tmp_path: Path) -> GateContext:
    return GateContext(
        parsed[0],
        parsed[1],
        (CONTRACT,),
        ON_GPU,
        sandbox,
        reference="torch.relu",
        cache=simulator_cache,
        keep=tmp_path,
        backend="gpu",
        earlier=(PROVED,),
        effort="low",
    )


@pytest.fixture
def with_gpu(fake_gpu: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(behaviour: str = "relu", tool: Path | None = None) -> None:
        made = fake_gpu(tool, behaviour)
        monkeypatch.setattr(gpu, "machine", lambda *_: made)
        monkeypatch.setattr(executors, "compile_kernel", lambda *_, **__: Compiled(b"cubin", "f"))

    return use


def test_a_right_kernel_passes_on_the_gpu_and_the_report_says_where(
    context: GateContext, with_gpu: Callable[..., None]
) -> None:
    with_gpu()
    result = fuzz.run(context)
    assert result.outcome is Outcome.PASS and not result.findings and not result.detail
    assert result.facts["backend"] == "GPU (fake)" and result.facts["device"]["watched"] == "guard bytes"
    (facts,) = result.facts["kernels"]
    assert facts["examples"] >= 20 and result.facts["device"]["launches"] >= facts["runs"] >= 25
    assert "numbers not compared in the simulator" in result.not_checked
    alone = fuzz.run(replace(context, policy=Policy()))
    assert alone.outcome is Outcome.INCONCLUSIVE and "policy asks for the backend sim" in alone.detail


def test_both_run_both(context: GateContext, with_gpu: Callable[..., None]) -> None:
    with_gpu()
    result = fuzz.run(replace(context, backend="both", policy=Policy(sanitize="both")))
    assert result.outcome is Outcome.PASS
    assert result.facts["backend"] == "simulator, GPU (fake)"
    for facts in (result.facts["kernels"][0], result.facts["gpu_kernels"][0]):
        assert facts["examples"] >= 20


def test_wrong_numbers_fail_after_a_second_process_showed_them(
    context: GateContext, with_gpu: Callable[..., None]
) -> None:
    with_gpu("count")
    result = fuzz.run(context)
    (finding,) = (f for f in result.findings if f.severity is Severity.ERROR)
    assert result.outcome is Outcome.FAIL and finding.id == "numerics"
    assert finding.witness is not None and finding.witness.replayed_by == "fake"
    assert "relu" in result.detail and "runs it in the simulator" in finding.fix


def test_a_fault_of_memory_is_a_finding_that_contradicts_the_proof(
    context: GateContext, with_gpu: Callable[..., None]
) -> None:
    with_gpu("spill 0")
    result = fuzz.run(context)
    assert result.outcome is Outcome.FAIL and result.facts["device"]["launches"] == 1  # nothing runs after it
    assert [(f.id, f.gate) for f in result.findings] == [("bounds-global", "fuzz")]
    proof = agree((PROVED, result))[0]
    assert proof.outcome is Outcome.ERROR and "one of the two is wrong" in proof.detail


def test_what_is_not_proved_runs_by_policy_and_under_memcheck(
    context: GateContext, with_gpu: Callable[..., None], tmp_path: Path
) -> None:
    with_gpu()
    unknown = replace(context, earlier=(UNKNOWN,))
    kept = fuzz.run(unknown)
    assert kept.outcome is Outcome.NOT_RUN and "gpu-unknown = true" in kept.detail
    allowed = replace(unknown, policy=Policy(sanitize="gpu", gpu_unknown=True))
    result = fuzz.run(allowed)
    assert result.outcome is Outcome.PASS and result.facts["device"]["watched"] == "memcheck"
    with_gpu("relu", fake_tool(tmp_path / "blind"))
    result = fuzz.run(allowed)
    assert result.outcome is Outcome.ERROR and "does not report its seeded fault" in result.detail
    with_gpu("relu", fake_tool(tmp_path / "seeing", FAULT, CONTROL))
    result = fuzz.run(allowed)
    assert result.outcome is Outcome.FAIL and "bounds-global" in result.detail
    assert result.findings[0].witness is not None and "memcheck" in result.findings[0].witness.replayed_by


def test_what_is_refuted_never_reaches_it(context: GateContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "machine", lambda *_: pytest.fail("it reached the GPU"))
    bad = replace(
        PROVED, kernels=(KernelResult("f", (), CONTRACT, (PropertyResult("launch", Verdict.REFUTED),)),)
    )
    policy = Policy(sanitize="gpu", gpu_unknown=True)
    result = fuzz.run(replace(context, earlier=(bad,), policy=policy))
    assert result.outcome is Outcome.NOT_RUN and "nothing refuted reaches a GPU" in result.detail
    drafted = (replace(CONTRACT, origin="drafted"),)
    assert fuzz.run(replace(context, contracts=drafted, policy=policy)).outcome is Outcome.NOT_RUN


def test_without_a_gpu_the_message_is_the_sanitize_gates(
    context: GateContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> Machine:
        raise GpuMissing("driver is missing: install it")

    monkeypatch.setattr(gpu, "machine", none)
    result = fuzz.run(context)
    assert result.outcome is Outcome.NOT_RUN and result.detail == "GPU: driver is missing: install it"
    assert result.facts["device"] == {"ran": False, "why": "driver is missing: install it"}
    case = Case(ON_GPU, ("f",), (CONTRACT,), ("prove", "fuzz"), numerics_hint="fuzz not selected")
    assert "numerics not checked (not run on the GPU)" in judge((PROVED, result), case).not_checked
    both = fuzz.run(replace(context, backend="both"))
    assert both.outcome is Outcome.INCONCLUSIVE and both.detail == result.detail
    bare = fuzz.run(replace(context, reference=None))
    assert bare.outcome is Outcome.NOT_RUN and bare.detail.startswith("no reference given")


def test_a_kernel_that_does_not_compile_or_does_not_end_is_named(
    context: GateContext, with_gpu: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Compiled:
        raise NotCompiled("nvcc: error: no such thing")

    with_gpu()
    monkeypatch.setattr(executors, "compile_kernel", refuse)
    result = fuzz.run(context)
    assert result.outcome is Outcome.INCONCLUSIVE and "nvcc: error: no such thing" in result.detail
    with_gpu("sick")
    monkeypatch.setattr(services, "health", lambda machine: "the GPU does not run a right kernel any more")
    monkeypatch.setattr(services, "SECONDS", 1.0)
    result = fuzz.run(context)
    assert result.outcome is Outcome.ERROR and "right kernel" in result.detail


def test_the_comparison_of_the_executors_uses_the_gpus(
    sandbox: Sandbox, fake_gpu: Callable[..., Machine], with_gpu: Callable[..., None]
) -> None:
    with_gpu()
    right = Worker(fake_gpu(None, "relu"), sandbox).row("relu_strided", None, 20)
    assert (right.simulator, right.gpu, right.agree) == ("PASS", "PASS", True)
    wrong = Worker(fake_gpu(None, "count"), sandbox).row("relu_strided", None, 20)
    assert (wrong.simulator, wrong.gpu, wrong.agree) == ("PASS", "FAIL", False) and "relu" in wrong.words[1]
