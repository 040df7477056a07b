"""The fuzz gate's executor on a real GPU: right numbers pass, wrong ones fail, and every guard shows what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu_kernels import MUTANTS, TEXTS, case_of
from fuzz.executor import Ran
from fuzz.gpu import GpuExecutor, GpuProcess
from fuzz.oracle import Oracle
from fuzz.runner import Budget, Found, explore
from sanitizers.gpu import service as services
from sanitizers.gpu.watch import Machine
from specs.contract import ConcreteBuffer, ConcreteLaunch
from specs.policy import Policy
from specs.results import Outcome
from verifier import frontend, source
from verifier.pipeline import Options, audit

pytestmark = pytest.mark.gpu
EXAMPLES = Path(__file__).parents[3] / "examples"
LAUNCH = ConcreteLaunch(
    "f", (), (2, 1, 1), (64, 1, 1), 0,
    (ConcreteBuffer("x", "f32", 100), ConcreteBuffer("y", "f32", 100, initialized=False)), {"n": 100},
)  # fmt: skip
X = np.arange(100, dtype=np.float32)
INPUTS = {"x": X.tobytes(), "y": np.full(100, np.nan, dtype=np.float32).tobytes()}
HEAD = "__global__ void f(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"


@pytest.fixture(scope="module")
def machine(real_gpu: Machine) -> Machine:
    return real_gpu


@pytest.fixture
def process(machine: Machine, tmp_path: Path) -> Iterator[Callable[..., tuple[GpuProcess, GpuExecutor]]]:
    with ExitStack() as stack:

        def make(body: str, before: str = "", watched: bool = False) -> tuple[GpuProcess, GpuExecutor]:
            path = tmp_path / "k.cu"
            path.write_text(f"{before}\n{HEAD}\n{body}\n}}\n")
            device = source.load(path, root=tmp_path, sandbox=machine.sandbox).device
            (kernel,) = frontend.parse_device(device, (), sandbox=machine.sandbox).kernels
            made = stack.enter_context(GpuProcess(machine, device, watched=watched))
            return made, made.executor(kernel)

        yield make


def run(executor: GpuExecutor, keep: bool = False) -> Ran:
    return executor.execute(LAUNCH, INPUTS, ("forward", 0), keep)


def floats(ran: Ran) -> Any:
    assert not ran.refusal and not ran.seen, ran
    return np.frombuffer(ran.outputs["y"], dtype=np.float32)


@pytest.fixture(scope="module")
def oracle(machine: Machine) -> Iterator[Oracle]:
    pytest.importorskip("torch", reason="the reference needs PyTorch")
    with Oracle(machine.sandbox) as running:
        yield running


@pytest.mark.parametrize("name", ["softmax_rows", "silu_half", "square_bf16", "total", "total_by_two"])
def test_right_kernels_pass_and_their_mutants_fail(
    machine: Machine, oracle: Oracle, tmp_path: Path, name: str
) -> None:
    def fuzz(text: str) -> Found:
        case = case_of(name, text, tmp_path, machine.sandbox)
        with (
            GpuProcess(machine, case.device) as process,
            case.open(lambda kernel, _: process.executor(kernel)) as executor,
        ):
            return explore(case.job, executor, oracle, Budget(40))

    right = fuzz(TEXTS[name])
    assert right.fault is None and right.seen is None and not right.refusal and right.examples > 20, right
    assert fuzz(TEXTS[name].replace(*MUTANTS[name][0])).fault is not None


def test_elements_that_are_not_written_keep_their_poison(process: Any) -> None:
    y = floats(run(process("if (i < n - 1) y[i] = x[i];")[1]))
    assert y[:99].tolist() == X[:99].tolist() and np.isnan(y[99])


def test_shared_memory_holds_nothing_useful_at_the_start(process: Any) -> None:
    body = "__shared__ float box[64]; if (threadIdx.x == 64) box[0] = x[0]; __syncthreads(); if (i < n) y[i] = box[threadIdx.x];"
    gpu, executor = process(body)
    spoilt = [np.isnan(floats(run(executor))).all() for _ in range(20)]
    assert (
        any(spoilt) and gpu.launches == 20
    )  # not all: the GPU may be shared, and a change of process clears it


def test_device_variables_are_kept_only_where_that_is_wanted(process: Any) -> None:
    body = "if (i == 0) calls = calls + 1; if (i < n) y[i] = i == 0 ? (float)calls : x[i];"
    executor = process(body, "__device__ int calls;")[1]
    assert [floats(run(executor, keep))[0] for keep in (False, False, True, True, False)] == [1, 1, 2, 3, 1]


@pytest.mark.parametrize(("place", "watched"), [("n", False), ("-1", False), ("n", True), ("1 << 28", False)])
def test_a_write_outside_is_seen(process: Any, place: str, watched: bool) -> None:
    gpu, executor = process(f"if (i < n) y[i] = x[i];\nif (i == 0) y[{place}] = 1.0f;", watched=watched)
    ran = run(executor)
    (seen, *_) = ran.seen
    assert seen.property == "bounds-global" and not ran.outputs
    assert (seen.by, seen.span.line) == (("memcheck", 4) if watched else ("the GPU", 0))
    assert run(executor) == ran and gpu.launches == 1


def test_under_memcheck_a_right_kernel_is_clean(process: Any) -> None:
    gpu, executor = process("if (i < n) y[i] = x[i];", watched=True)
    for _ in range(5):
        assert floats(run(executor)).tolist() == X.tolist()
    assert gpu.finish() == Ran() and not gpu.broken


def test_a_kernel_that_does_not_end_is_killed_and_the_device_goes_on(
    process: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "SECONDS", 2.0)
    gpu, executor = process("volatile float* v = y; while (v[0] != 7.0f) { } if (i < n) y[i] = x[i];")
    assert "does not end in 2 s" in run(executor).refusal and not gpu.broken
    assert floats(run(process("if (i < n) y[i] = x[i];")[1])).tolist() == X.tolist()


def test_what_a_kernel_prints_is_no_answer(process: Any) -> None:
    executor = process('if (i < n) { y[i] = x[i]; printf("{}%d\\n", i); }', "#include <cstdio>")[1]
    assert floats(run(executor)).tolist() == X.tolist()


def test_the_gate_compares_a_proved_kernel_on_both(machine: Machine) -> None:
    options = Options(Policy(sanitize="both"), sandbox=machine.sandbox.kind, timeout=150.0, reference="axpy")
    result = audit(EXAMPLES / "saxpy.cu", options)
    assert result.verdict is Outcome.PASS, result.reasons
    (fuzzed,) = (g for g in result.gates if g.gate == "fuzz")
    assert fuzzed.facts["device"]["ran"] and fuzzed.facts["gpu_kernels"][0]["examples"] >= 90
    assert machine.device in result.headline
