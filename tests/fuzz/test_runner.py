"""The differential loop with an executor that computes in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzz.binding import bind
from fuzz.case import Job
from fuzz.executor import Ran, Seen
from fuzz.oracle import Oracle
from fuzz.reference import parse
from fuzz.runner import Budget, explore
from specs.location import Span

F = np.float32
SIZES = tuple({"n": n} for n in (1, 2, 31, 32, 33, 97, 257))
POINTWISE = {"x": "in f32", "y": "out f32"}


@pytest.fixture
def pointwise_job(make_kernel: Any, make_contract: Any) -> Callable[..., Job]:
    def make(
        reference: str, pointers: dict[str, str] = POINTWISE, scalars: dict[str, str] | None = None
    ) -> Job:
        kernel = make_kernel("k", pointers, {**(scalars or {}), "n": "i32"})
        contract = make_contract(kernel, {p: ["n"] for p in pointers}, ["n"], {"n": "i32(n)"})
        bound = bind(kernel, contract, parse(reference, [p.name for p in kernel.params]), SIZES).bindings[0]
        return Job(kernel, contract, bound, SIZES)

    return make


def test_right_kernel_passes(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    executor = numpy_executor(lambda x: {"y": np.maximum(x, F(0))})
    found = explore(pointwise_job("torch.relu"), executor, oracle, Budget(60))
    assert (found.fault, found.refusal, found.cut) == (None, "", False)
    assert found.examples + found.vacuous >= 50 and found.runs > found.examples
    assert {s["n"] for s in found.sizes} == {s["n"] for s in SIZES}


def test_in_place_axpy_with_a_drawn_scalar(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    job = pointwise_job("saxpy", {"x": "in f32", "y": "inout f32"}, {"a": "f32"})
    right = numpy_executor(lambda x, y, a: {"y": F(a) * x + y})
    assert explore(job, right, oracle, Budget(40)).fault is None
    wrong = numpy_executor(lambda x, y, a: {"y": F(a) * y + x})
    fault = explore(job, wrong, oracle, Budget(40)).fault
    assert fault is not None and "axpy" in fault.message


def test_failure_shrinks_to_the_smallest_size(
    pointwise_job: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    def tail_forgotten(x: Any) -> dict[str, Any]:
        y = np.maximum(x, F(0))
        y[32:] = x[32:]
        return {"y": y}

    fault = explore(pointwise_job("torch.relu"), numpy_executor(tail_forgotten), oracle, Budget(60)).fault
    assert fault is not None and fault.mismatch is not None
    assert dict(fault.case.sizes) == {"n": 33} and fault.mismatch.index == 32


def test_unwritten_elements_are_a_fault(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    class LastElementMissing(numpy_executor):  # type: ignore[misc]
        def execute(self, launch: Any, inputs: Any, order: Any, keep: bool = False) -> Ran:
            ran = super().execute(launch, inputs, order, keep)
            return Ran({**ran.outputs, "y": ran.outputs["y"][:-4] + inputs["y"][-4:]})

    executor = LastElementMissing(lambda x: {"y": np.maximum(x, F(0))})
    fault = explore(pointwise_job("torch.relu"), executor, oracle, Budget(20)).fault
    assert fault is not None and "never written" in fault.message


def test_changed_input_is_a_fault(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    executor = numpy_executor(lambda x: {"y": np.maximum(x, F(0)), "x": np.zeros_like(x)})
    fault = explore(pointwise_job("torch.relu"), executor, oracle, Budget(20)).fault
    assert fault is not None and "changes its input x" in fault.message


def test_cached_result_is_a_fault(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    cache: dict[int, Any] = {}

    class Caches(numpy_executor):  # type: ignore[misc]
        def execute(self, launch: Any, inputs: Any, order: Any, keep: bool = False) -> Ran:
            if not keep:
                cache.clear()
            size = len(inputs["x"])
            if size not in cache:
                cache[size] = super().execute(launch, inputs, order, keep).outputs["y"]
            return Ran({**inputs, "y": cache[size]})

    fault = explore(
        pointwise_job("torch.relu"), Caches(lambda x: {"y": np.maximum(x, F(0))}), oracle, Budget(60)
    ).fault
    assert fault is not None and fault.case.reuse


def test_wrong_only_under_another_schedule(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    class Races(numpy_executor):  # type: ignore[misc]
        def execute(self, launch: Any, inputs: Any, order: Any, keep: bool = False) -> Ran:
            ran = super().execute(launch, inputs, order, keep)
            return ran if order[0] != "reverse" else Ran({**ran.outputs, "y": bytes(len(ran.outputs["y"]))})

    fault = explore(
        pointwise_job("torch.relu"), Races(lambda x: {"y": np.maximum(x, F(0))}), oracle, Budget(60)
    ).fault
    assert fault is not None and fault.case.order[0] == "reverse"


def test_fault_that_does_not_come_again_is_not_reported(
    pointwise_job: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    wrong = numpy_executor(lambda x: {"y": x})
    right = numpy_executor(lambda x: {"y": np.maximum(x, F(0))})
    found = explore(pointwise_job("torch.relu"), wrong, oracle, Budget(30), confirm=lambda: right)
    assert found.fault is None and found.refusal.startswith("not reproduced")


def test_simulator_findings_and_refusals_come_through(
    pointwise_job: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    seen = Seen("bounds-global", Span("k.cu", 7), "writes y[1] of 1")
    found = explore(
        pointwise_job("torch.relu"), numpy_executor(lambda x: {}, seen=(seen,)), oracle, Budget(5)
    )
    assert found.fault is None and found.seen == seen and found.examples == 0
    found = explore(
        pointwise_job("torch.relu"), numpy_executor(lambda x: {}, refusal="texture"), oracle, Budget(5)
    )
    assert found.fault is None and found.refusal == "texture" and found.examples == 0


def test_special_inputs_are_the_edge_domain(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    executor = numpy_executor(
        lambda x: {"y": np.where(x > 0, x, F(0))}
    )  # NaN becomes 0, PyTorch's relu keeps it
    found = explore(pointwise_job("torch.relu"), executor, oracle, Budget(50))
    assert found.fault is None and found.edge is not None and found.edge.nonfinite


def test_deadline_cuts_and_says_so(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    executor = numpy_executor(lambda x: {"y": np.maximum(x, F(0))})
    found = explore(pointwise_job("torch.relu"), executor, oracle, Budget(50, deadline=0.0))
    assert found.cut and found.examples == 0


def test_same_seed_same_runs(pointwise_job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    wrong = lambda: numpy_executor(lambda x: {"y": np.where(x > 2, x, np.maximum(x, F(0)) * F(1.001))})  # noqa: E731
    first = explore(pointwise_job("torch.relu"), wrong(), oracle, Budget(30, seed=5)).fault
    second = explore(pointwise_job("torch.relu"), wrong(), oracle, Budget(30, seed=5)).fault
    assert first is not None and second is not None and first.case == second.case


def test_expression_of_several_ops(
    make_kernel: Any, make_contract: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    kernel = make_kernel(
        "fused", {"x": "in f32", "w": "in f32", "b": "in f32", "y": "out f32"}, {"scale": "f32"}
    )
    shapes = {"x": ["m", "k"], "w": ["k", "n"], "b": ["n"], "y": ["m", "n"]}
    contract = make_contract(kernel, shapes, ["m", "k", "n"])
    pool = ({"m": 1, "k": 1, "n": 1}, {"m": 3, "k": 5, "n": 2}, {"m": 2, "k": 33, "n": 7})
    text = "torch.relu(x @ w + b) * scale"
    job = Job(
        kernel,
        contract,
        bind(kernel, contract, parse(text, [p.name for p in kernel.params]), pool).bindings[0],
        pool,
    )
    right = numpy_executor(lambda x, w, b, scale: {"y": np.maximum(x @ w + b, F(0)) * F(scale)})
    assert explore(job, right, oracle, Budget(40)).fault is None
    wrong = numpy_executor(lambda x, w, b, scale: {"y": np.maximum(x @ w, F(0)) * F(scale)})
    assert explore(job, wrong, oracle, Budget(40)).fault is not None


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64", "i32"])
def test_other_dtypes(
    dtype: str, make_kernel: Any, make_contract: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    kernel = make_kernel("total", {"x": f"in {dtype}", "out": f"out {dtype}"})
    contract = make_contract(kernel, {"x": ["n"], "out": []}, ["n"])
    job = Job(
        kernel, contract, bind(kernel, contract, parse("torch.sum", ["x", "out"]), SIZES).bindings[0], SIZES
    )
    right = numpy_executor(lambda x: {"out": x.sum()})
    assert explore(job, right, oracle, Budget(40)).fault is None
    wrong = numpy_executor(lambda x: {"out": x.sum() + x[-1]})
    assert explore(job, wrong, oracle, Budget(40)).fault is not None
