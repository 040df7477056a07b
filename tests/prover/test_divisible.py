"""Sizes that have to divide each other: used where the problem's sizes say so, else only told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.policy import REQUIRED_PROPERTIES
from specs.results import PropertyResult, Reason, Verdict
from verifier.frontend import parse_device
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.prover import divisible
from verifier.prover.engine import KernelVerdicts
from verifier.prover.given import bounds, given, of_memory
from verifier.prover.verify import Settings, verify
from verifier.smt.solver import SolverPool
from verifier.source.device_text import DeviceText

TEXT = """
struct alignas(16) four { float x, y, z, w; };
__global__ void rows(const float* in, float* out, int C) {
    const float* from = in + blockIdx.x * C;
    float* to = out + blockIdx.x * C;
    for (int i = threadIdx.x * 4; i < C; i += blockDim.x * 4) {
        *reinterpret_cast<four*>(to + i) = *reinterpret_cast<const four*>(from + i);
    }
}
__global__ void rows_too_long(const float* in, float* out, int C) {
    const float* from = in + blockIdx.x * C;
    float* to = out + blockIdx.x * C;
    for (int i = threadIdx.x * 4; i <= C; i += blockDim.x * 4) {
        *reinterpret_cast<four*>(to + i) = *reinterpret_cast<const four*>(from + i);
    }
}
__global__ void picked(const float* table, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
}
"""
NAMES = ("rows", "rows_too_long", "picked")


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    device = DeviceText(TEXT, digest, tuple((n, NOWHERE) for n in NAMES))
    module = parse_device(device, [], sandbox=Sandbox("none"))
    assert not module.diagnostics
    return {k.name: k for k in module.kernels}


@pytest.fixture(scope="module")
def pool() -> Iterator[SolverPool]:
    with SolverPool() as made:
        yield made


def rows(name: str, value: int | None) -> Contract:
    known = () if value is None else (Clause("B * C <= 1048576", "derived"),)
    return Contract(
        name, (), Launch(name, (), ("B", "1", "1"), ("128", "1", "1")),
        (Symbol("B", "dim", value=8), Symbol("C", "dim", value=value)),
        (Buffer("in", "f32", "B * C", align=16), Buffer("out", "f32", "B * C", fresh=True, align=16)),
        (Scalar("C", "i32(C)"),), known, "lifted",
    )  # fmt: skip


def verdicts(made: KernelVerdicts) -> dict[str, PropertyResult]:
    return {p.id: p for p in made.properties}


def test_the_problem_s_sizes_vouch_for_a_clause(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    made = verify(kernels["rows"], rows("rows", 768), Settings(pool, REQUIRED_PROPERTIES, 1 << 30))
    assert {p.verdict for p in made.properties} == {Verdict.PROVED, Verdict.NOT_APPLICABLE}
    assert [(c.text, c.origin) for c in made.clauses] == [("C % 4 == 0", "derived")]


def test_sizes_that_contradict_it(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    made = verify(kernels["rows"], rows("rows", 770), Settings(pool, REQUIRED_PROPERTIES, 1 << 30))
    found = verdicts(made)
    assert found["bounds-global"].verdict is not Verdict.PROVED
    assert found["alignment"].verdict is not Verdict.PROVED
    assert "C % 4 == 0" not in [c.text for c in made.clauses]


def test_nobody_vouches_for_it(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    made = verify(kernels["rows"], rows("rows", None), Settings(pool, REQUIRED_PROPERTIES, 1 << 30))
    found = verdicts(made)["alignment"]
    assert found.verdict is Verdict.UNKNOWN
    assert "C % 4 == 0" in found.safe_for
    assert not [c for c in made.clauses if c.origin == "derived"]


def test_a_fault_that_no_divisor_removes(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    settings = Settings(pool, REQUIRED_PROPERTIES, 1 << 30)
    made = verify(kernels["rows_too_long"], rows("rows_too_long", 768), settings)
    found = verdicts(made)["bounds-global"]
    assert found.verdict is not Verdict.PROVED
    assert not found.safe_for


def test_a_range_of_indices_and_different_memory_are_told(
    kernels: dict[str, Kernel], pool: SolverPool
) -> None:
    contract = Contract(
        "picked", (), Launch("picked", (), ("ceil_div(n, 256)", "1", "1"), ("256", "1", "1")),
        (Symbol("n", "dim"), Symbol("V", "dim")),
        (Buffer("table", "f32", "V"), Buffer("index", "i32", "n"), Buffer("out", "f32", "n")),
        (Scalar("n", "i32(n)"),), (Clause("n <= 1073741824", "derived"),), "lifted",
    )  # fmt: skip
    found = verdicts(verify(kernels["picked"], contract, Settings(pool, REQUIRED_PROPERTIES, 1 << 30)))
    assert found["bounds-global"].verdict is found["race-global"].verdict is Verdict.UNKNOWN
    for clause in ("content(index, 0, V - 1)", "disjoint(out, table)", "disjoint(out, index)"):
        swapped = clause.replace("out, table", "table, out").replace("out, index", "index, out")
        assert clause in found["bounds-global"].safe_for or swapped in found["bounds-global"].safe_for


def test_clauses_on_memory_go_where_they_belong() -> None:
    clauses = [
        Clause(t, "assumed")
        for t in ("B % 2 == 0", "disjoint(in, out)", "aligned(in, 32)", "content(in, 0, max(B, C) - 1)")
    ]
    made = given(rows("rows", None), clauses)
    assert [c.text for c in made.requires] == ["B % 2 == 0"]
    assert [c.text for c in made.no_alias] == ["disjoint(in, out)"]
    assert made.buffers[0].align == 32
    assert made.buffers[0].content == ("0", "max(B, C) - 1")
    assert made.buffers[1] == rows("rows", None).buffers[1]
    assert of_memory("n <= 4") is None
    assert bounds("0, n - 1") == ("0", "n - 1")


def test_a_refutation_stays_and_nothing_may_be_lost() -> None:
    def made(**states: Verdict) -> KernelVerdicts:
        return KernelVerdicts(
            tuple(PropertyResult(p, v, Reason.BUDGET if v is Verdict.UNKNOWN else None) for p, v in states.items()), ()
        )  # fmt: skip

    old = made(a=Verdict.UNKNOWN, b=Verdict.REFUTED, c=Verdict.PROVED)
    assert divisible.better(old, made(a=Verdict.PROVED, b=Verdict.PROVED, c=Verdict.PROVED))
    assert not divisible.better(old, made(a=Verdict.PROVED, b=Verdict.PROVED, c=Verdict.UNKNOWN))
    assert not divisible.better(old, made(a=Verdict.UNKNOWN, b=Verdict.PROVED, c=Verdict.PROVED))
    merged, _ = divisible.merged(old, made(a=Verdict.PROVED, b=Verdict.PROVED, c=Verdict.PROVED))
    assert [p.verdict for p in merged] == [Verdict.PROVED, Verdict.REFUTED, Verdict.PROVED]
