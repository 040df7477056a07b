"""The prover against small kernels: what is wrong must not be proved, what is right must be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.policy import REQUIRED_PROPERTIES
from specs.results import Verdict
from verifier.frontend import parse_device
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.prover.verify import Settings, verify
from verifier.smt.solver import SolverPool
from verifier.source.device_text import DeviceText

FILE = Path(__file__).with_name("kernels.cu")
LINE = re.compile(r"^//! grid=(\S+) block=(\d+) x=(\S+) y=(\S+) : (.*)\n__global__ void (\w+)", re.M)
CASES = [m.groups() for m in LINE.finditer(FILE.read_text())]


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    text = FILE.read_text()
    device = DeviceText(
        text, hashlib.sha256(text.encode()).hexdigest(), tuple((c[5], NOWHERE) for c in CASES)
    )
    module = parse_device(device, [], sandbox=Sandbox("none"))
    assert not module.diagnostics
    return {k.name: k for k in module.kernels}


@pytest.fixture(scope="module")
def pool() -> Iterator[SolverPool]:
    with SolverPool() as made:
        yield made


def contract(grid: str, block: str, x: str, y: str, name: str) -> Contract:
    return Contract(
        name, (), Launch(name, (), (grid, "1", "1"), (block, "1", "1")), (Symbol("n", "dim"),),
        (Buffer("x", "f32", x), Buffer("y", "f32", y, fresh=True)), (Scalar("n", "i32(n)"),),
        (Clause("n <= 1073741824", "derived"),), "lifted",
    )  # fmt: skip


@pytest.mark.parametrize("grid,block,x,y,expected,name", CASES, ids=[c[5] for c in CASES])
def test_verdicts(
    kernels: dict[str, Kernel],
    pool: SolverPool,
    grid: str,
    block: str,
    x: str,
    y: str,
    expected: str,
    name: str,
) -> None:
    settings = Settings(pool, REQUIRED_PROPERTIES, 1 << 30)
    result = verify(kernels[name], contract(grid, block, x, y, name), settings)
    proved = {p.id for p in result.properties if p.verdict is Verdict.PROVED}
    open_ = {
        p.id: p.detail
        for p in result.properties
        if p.verdict is not Verdict.PROVED and p.verdict is not Verdict.NOT_APPLICABLE
    }
    if expected.strip() == "none":
        assert not open_
    else:
        assert not proved & set(expected.split())
        assert set(expected.split()) <= set(open_)


def test_a_contradictory_contract_proves_nothing(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    made = contract("1", "256", "n", "n", "copy")
    dead = Contract(**{**{f: getattr(made, f) for f in made.__dataclass_fields__},
                       "requires": (Clause("n < 0", "enforced"),)})  # fmt: skip
    result = verify(kernels["copy"], dead, Settings(pool, REQUIRED_PROPERTIES, 1 << 30))
    assert all(p.verdict is Verdict.UNKNOWN for p in result.properties)


def test_a_buffer_that_may_alias_is_a_missing_clause(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    made = contract("ceil_div(n,256)", "256", "n", "n", "copy")
    both = (Buffer("x", "f32", "n"), Buffer("y", "f32", "n"))
    loose = Contract(**{**{f: getattr(made, f) for f in made.__dataclass_fields__}, "buffers": both})
    result = {
        p.id: p
        for p in verify(kernels["copy"], loose, Settings(pool, REQUIRED_PROPERTIES, 1 << 30)).properties
    }
    assert result["race-global"].verdict is Verdict.UNKNOWN
    assert "disjoint" in result["race-global"].detail
