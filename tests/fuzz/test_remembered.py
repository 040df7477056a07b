"""Counterexamples of earlier runs come first, and can only make a verdict worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import remembered
from fuzz.binding import bind
from fuzz.case import Case, Job
from fuzz.oracle import Oracle
from fuzz.reference import parse
from fuzz.runner import Budget, explore
from fuzz.values import Recipe

F = np.float32
POOL = tuple({"n": n} for n in (1, 3, 33, 100))


def made(make_kernel: Any, make_contract: Any, name: str = "relu_kernel") -> Job:
    kernel = make_kernel(name, {"x": "in f32", "y": "out f32"}, {"n": "i32"})
    contract = make_contract(kernel, {"x": ["n"], "y": ["n"]}, ["n"], {"n": "i32(n)"})
    return Job(
        kernel, contract, bind(kernel, contract, parse("torch.relu", ["x", "y", "n"]), POOL).bindings[0], POOL
    )


def case(n: int, kind: str = "uniform") -> Case:
    return Case((("n", n),), (Recipe(kind, 7),), (), ("forward", 0))


def test_a_fault_is_found_again_at_once_and_a_right_kernel_passes(
    make_kernel: Any, make_contract: Any, numpy_executor: Any, oracle: Oracle, tmp_path: Path
) -> None:
    job = made(make_kernel, make_contract)
    wrong = numpy_executor(lambda x: {"y": np.where((x < 0) & (x.size != 33), F(0), x)})
    first = explore(job, wrong, oracle, Budget(40, remembered=tmp_path))
    assert first.fault is not None and remembered.fetch(tmp_path, job) == (first.fault.case,)
    again = explore(job, wrong, oracle, Budget(40, seed=1, remembered=tmp_path))
    assert again.fault is not None and again.runs == 1 and again.fault.case == first.fault.case
    right = numpy_executor(lambda x: {"y": np.where(x < 0, F(0), x)})
    with_it = explore(job, right, oracle, Budget(40, remembered=tmp_path))
    assert with_it.fault is None and with_it.examples == explore(job, right, oracle, Budget(40)).examples
    assert not remembered.fetch(tmp_path, made(make_kernel, make_contract, "other_kernel"))


def test_only_cases_of_the_contract_are_read_back(
    make_kernel: Any, make_contract: Any, tmp_path: Path
) -> None:
    job = made(make_kernel, make_contract)
    key = remembered._key(job)
    for bad in (
        case(0),
        case(1 << 40),
        case(3, "nans"),
        case(3, "nothing"),
        Case((("m", 3),), (), (), ("forward", 0)),
    ):
        remembered.store(tmp_path, job, bad)
    assert remembered.fetch(tmp_path, job) == ()
    remembered._database(tmp_path).save(key, b"not json")
    remembered._database(tmp_path).save(
        key, json.dumps([[["n", 3]], [["ones", 1]], [], ["sideways", 1], False]).encode()
    )
    remembered.store(tmp_path, job, case(3))
    assert remembered.fetch(tmp_path, job) == (case(3),)


def test_few_are_kept(make_kernel: Any, make_contract: Any, tmp_path: Path) -> None:
    job = made(make_kernel, make_contract)
    for n in range(1, 40):
        remembered.store(tmp_path, job, case(n))
    assert 0 < len(remembered.fetch(tmp_path, job)) <= remembered.MOST
