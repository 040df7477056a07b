"""Launches that data flow links are compared as one; others are not linked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuzz.binding import bind
from fuzz.case import Job
from fuzz.chain import Chain, ChainExecutor, link
from fuzz.executor import Ran
from fuzz.oracle import Oracle
from fuzz.reference import parse
from fuzz.runner import Budget, Found, explore
from specs.contract import Contract
from specs.location import Span
from verifier.ir import nodes as ir

F = np.float32
POOL = tuple({"n": n} for n in (4, 8, 64, 256))


@pytest.fixture
def stages(make_kernel: Any, make_contract: Any) -> Callable[..., tuple[list[Contract], list[ir.Kernel]]]:
    """``(name, pointers, shapes, storages)`` for each launch, in order."""

    def make(*rows: tuple[str, Mapping[str, str], Mapping[str, list[str]], Mapping[str, str]]) -> Any:
        contracts, kernels = [], []
        for order, (name, pointers, shapes, storages) in enumerate(rows):
            kernel = make_kernel(name, pointers)
            contract = make_contract(kernel, shapes, ["n"])
            fresh = {s for s in storages.values() if s not in ("x", "w")}
            buffers = tuple(
                replace(b, storage=storages[b.param], fresh=storages[b.param] in fresh)
                for b in contract.buffers
            )
            launch = replace(contract.launch, order=order, launcher="run")
            contracts.append(replace(contract, buffers=buffers, launch=launch))
            kernels.append(kernel)
        return contracts, kernels

    return make


PARTIAL = ("fold", {"x": "in f32", "out": "out f32"}, {"x": ["n"], "out": ["4"]}, {"x": "x", "out": "part"})
TOTAL = ("finish", {"x": "in f32", "out": "out f32"}, {"x": ["4"], "out": []}, {"x": "part", "out": "total"})


def run(chain: Chain, numpy_executor: Any, oracle: Oracle, reference: str, **compute: Any) -> Found:
    text = parse(reference, [p.name for p in chain.kernel.params])
    binding = bind(chain.kernel, chain.contract, text, POOL).bindings[0]
    executor = ChainExecutor(chain, lambda kernel, _: numpy_executor(compute[kernel.name]), "O1")
    return explore(Job(chain.kernel, chain.contract, binding, POOL), executor, oracle, Budget(30))


def test_partial_sums_and_their_total(stages: Any, numpy_executor: Any, oracle: Oracle) -> None:
    chain = link(*stages(PARTIAL, TOTAL))
    assert chain is not None
    assert [p.name for p in chain.kernel.params] == ["x", "total"] and chain.kernel.name == "fold + finish"
    fold = lambda x: {"out": x.reshape(4, -1).sum(1, dtype=F)}  # noqa: E731
    right = run(
        chain, numpy_executor, oracle, "torch.sum", fold=fold, finish=lambda x: {"out": x.sum(dtype=F)}
    )
    assert right.fault is None and right.examples > 10
    wrong = run(
        chain, numpy_executor, oracle, "torch.sum", fold=fold, finish=lambda x: {"out": x[1:].sum(dtype=F)}
    )
    assert wrong.fault is not None


def test_order_is_the_launches_own(stages: Any) -> None:
    contracts, kernels = stages(PARTIAL, TOTAL)
    chain = link(contracts[::-1], kernels[::-1])
    assert chain is not None and [s.kernel.name for s in chain.stages] == ["fold", "finish"]


def test_buffer_written_in_place_by_the_last_launch_is_the_output(
    stages: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    exp = ("exponents", {"x": "in f32", "y": "out f32"}, {"x": ["n"], "y": ["n"]}, {"x": "x", "y": "y"})
    norm = ("divide", {"y": "inout f32"}, {"y": ["n"]}, {"y": "y"})
    chain = link(*stages(exp, norm))
    assert chain is not None and [p.name for p in chain.kernel.params] == ["x", "y"]
    exponents = lambda x: {"y": np.exp(x - x.max(), dtype=F)}  # noqa: E731
    right = run(
        chain,
        numpy_executor,
        oracle,
        "softmax",
        exponents=exponents,
        divide=lambda y: {"y": y / y.sum(dtype=F)},
    )
    assert right.fault is None and right.examples > 10
    wrong = run(
        chain, numpy_executor, oracle, "softmax", exponents=exponents, divide=lambda y: {"y": y / y.max()}
    )
    assert wrong.fault is not None


def test_launches_that_do_not_meet_are_not_linked(stages: Any) -> None:
    one = ("first", {"x": "in f32", "y": "out f32"}, {"x": ["n"], "y": ["n"]}, {"x": "x", "y": "y"})
    other = ("second", {"x": "in f32", "y": "out f32"}, {"x": ["n"], "y": ["n"]}, {"x": "x", "y": "z"})
    assert link(*stages(one, other)) is None
    assert link(*stages(one)) is None
    contracts, kernels = stages(PARTIAL, TOTAL)
    elsewhere = replace(contracts[1], launch=replace(contracts[1].launch, launcher="other"))
    assert link([contracts[0], elsewhere], kernels) is None


def test_inputs_with_a_known_first_value_are_still_inputs(
    stages: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    last = ("finish", {"x": "in f32", "w": "in f32", "out": "out f32"}, {"x": ["4"], "w": ["1"], "out": []},
            {"x": "part", "w": "w", "out": "total"})  # fmt: skip
    contracts, kernels = stages(PARTIAL, last)
    zero = tuple(replace(b, content=("0", "0")) if b.param == "w" else b for b in contracts[1].buffers)
    chain = link([contracts[0], replace(contracts[1], buffers=zero)], kernels)
    assert chain is not None
    fold = lambda x: {"out": x.reshape(4, -1).sum(1, dtype=F)}  # noqa: E731
    finish = lambda x, w: {"out": x.sum(dtype=F) + w}  # noqa: E731
    found = run(chain, numpy_executor, oracle, "torch.sum(x) + w", fold=fold, finish=finish)
    assert found.fault is None and found.examples > 10


def test_contents_that_nobody_wrote_are_refused(stages: Any, numpy_executor: Any, oracle: Oracle) -> None:
    middle = ("finish", {"x": "in f32", "w": "in f32", "out": "out f32"}, {"x": ["4"], "w": ["4"], "out": []},
              {"x": "part", "w": "part2", "out": "total"})  # fmt: skip
    chain = link(*stages(PARTIAL, middle))
    assert chain is not None
    inside = replace(chain.stages[1], storages={**chain.stages[1].storages, "w": "nowhere"})
    broken = replace(chain, stages=(chain.stages[0], inside))
    fold = numpy_executor(lambda x: {"out": x.reshape(4, -1).sum(1, dtype=F)})
    executor = ChainExecutor(broken, lambda kernel, _: fold, "O1")
    from specs import clauses

    launch = clauses.instantiate(chain.contract, {"n": 4})
    ran = executor.execute(launch, {"x": bytes(16), "total": bytes(4)}, ("forward", 0))
    assert "contents of w of finish are not known" in ran.refusal


def test_lines_that_no_stage_ran_are_told(stages: Any, numpy_executor: Any, oracle: Oracle) -> None:
    """Stages are programs of their own: one address is another place in each."""
    lines = {"fold": {5: Span("k.cu", 3), 9: Span("k.cu", 4)}, "finish": {5: Span("k.cu", 12), 9: Span("k.cu", 13)}}  # fmt: skip
    ran = {"fold": frozenset({5, 9}), "finish": frozenset({5})}
    compute = {
        "fold": lambda x: {"out": x.reshape(4, -1).sum(1, dtype=F)},
        "finish": lambda x: {"out": x.sum(dtype=F)},
    }

    class Told(numpy_executor):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__(compute[name])
            self.name = name

        def execute(self, *request: Any) -> Ran:
            done: Ran = super().execute(*request)
            return replace(done, blocks=ran[self.name])

        def blocks(self) -> dict[int, Span]:
            return lines[self.name]

    chain = link(*stages(PARTIAL, TOTAL))
    assert chain is not None
    binding = bind(chain.kernel, chain.contract, parse("torch.sum", ["x", "total"]), POOL).bindings[0]
    executor = ChainExecutor(chain, lambda kernel, _: Told(kernel.name), "O1")
    found = explore(Job(chain.kernel, chain.contract, binding, POOL), executor, oracle, Budget(10))
    assert found.fault is None and found.not_run == (Span("k.cu", 13),)
