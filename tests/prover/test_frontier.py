"""For which sizes a launch is safe that is not safe for all: exact where one size decides, never more than is true."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import pytest

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.policy import REQUIRED_PROPERTIES
from specs.results import Finding, PropertyResult, Severity, Verdict, Witness
from verifier.frontend import parse_device
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.prover import frontier
from verifier.prover.verify import KernelVerdicts, Settings, verify
from verifier.smt.solver import SolverPool
from verifier.source.device_text import DeviceText

TEXT = """
__global__ void four(const float* x, float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = 4 * i;
    if (j < 4 * n) y[j / 4] = x[i];
}
__global__ void beyond(const float* x, float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = x[i];
}
__global__ void shorter(const float* x, float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void squares(const float* x, float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && n * n > m) y[i] = x[i];
}
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    names = ("four", "beyond", "shorter", "squares")
    device = DeviceText(TEXT, hashlib.sha256(TEXT.encode()).hexdigest(), tuple((n, NOWHERE) for n in names))
    module = parse_device(device, [], sandbox=Sandbox("none"))
    assert not module.diagnostics
    return {k.name: k for k in module.kernels}


@pytest.fixture(scope="module")
def pool() -> Iterator[SolverPool]:
    with SolverPool() as made:
        yield made


def contract(kernel: str, x: str, *clauses: str) -> Contract:
    return Contract(
        kernel, (), Launch(kernel, (), ("ceil_div(n,256)", "1", "1"), ("256", "1", "1")),
        (Symbol("n", "dim"), Symbol("m", "dim")),
        (Buffer("x", "f32", x), Buffer("y", "f32", "n", fresh=True)),
        (Scalar("n", "i32(n)"), Scalar("m", "i32(m)")),
        tuple(Clause(text, "enforced") for text in ("n <= 1073741824", "m <= 1073741824", *clauses)), "lifted",
    )  # fmt: skip


def judged(kernel: Kernel, pool: SolverPool, x: str = "n", *clauses: str) -> dict[str, PropertyResult]:
    found = verify(kernel, contract(kernel.name, x, *clauses), Settings(pool, REQUIRED_PROPERTIES, 1 << 30))
    return {p.id: p for p in found.properties}


def test_one_size(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    found = judged(kernels["four"], pool)
    assert found["overflow"].verdict is Verdict.UNKNOWN
    name, _, bound = found["overflow"].safe_for.partition(" <= ")
    assert (
        name == "n" and (1 << 28) <= int(bound) < 1 << 29
    )  # 4 * i fits for i <= 2^29 - 1, 4 * n for n <= 2^29 - 1


def test_the_clause_that_is_told_makes_the_proof(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    told = judged(kernels["four"], pool)["overflow"].safe_for
    under = judged(kernels["four"], pool, "n", told)
    assert under["overflow"].verdict is Verdict.PROVED and under["bounds-global"].verdict is Verdict.PROVED
    assert not under["overflow"].safe_for


def test_a_fault_at_every_size_has_no_bound(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    found = judged(kernels["beyond"], pool)
    assert found["bounds-global"].verdict is Verdict.UNKNOWN and not found["bounds-global"].safe_for


def test_a_missing_clause_that_is_enough_is_told_without_a_size(
    kernels: dict[str, Kernel], pool: SolverPool
) -> None:
    found = judged(kernels["shorter"], pool, "m")
    assert found["bounds-global"].verdict is Verdict.UNKNOWN
    assert "m" in found["bounds-global"].safe_for and "1073741824" not in found["bounds-global"].safe_for


def bounds_of(clauses: Sequence[Clause]) -> dict[str, int]:
    return {name: int(most) for name, most in (c.text.split(" <= ") for c in clauses if " <= " in c.text)}


@pytest.mark.parametrize("limit", [256, 257, 46340, 65535, 536870912, (1 << 30) - 1])
@pytest.mark.parametrize("fault", [0, 1, 5000])
def test_search_is_exact(limit: int, fault: int) -> None:
    """``fault``: how far above the limit a witness was found; 0: none."""
    probes = 0

    def probe(clauses: Sequence[Clause], wanted: Sequence[str], until: float) -> tuple[PropertyResult, ...]:
        nonlocal probes
        probes += 1
        good = bounds_of(clauses).get("n", 1 << 40) <= limit
        return (PropertyResult("overflow", Verdict.PROVED if good else Verdict.UNKNOWN),)

    witness = Witness((1, 1, 1), (1, 1, 1), 0, {"n": limit + fault, "m": 7}, {}, {}, ())
    found = (Finding("overflow", Severity.ERROR, NOWHERE, "", witness=witness),) if fault else ()
    bare = KernelVerdicts((PropertyResult("overflow", Verdict.UNKNOWN),), found)
    (result,) = frontier.bounded(bare, contract("copy", "n"), 1 << 30, (), probe, 1e18)
    assert result.safe_for == ("" if fault and limit + fault <= 256 else f"n <= {limit}")
    assert probes < 45 and (fault != 1 or probes == 2 or limit == 256)


def test_all_buffers_where_no_size_alone_is_enough() -> None:
    def probe(clauses: Sequence[Clause], wanted: Sequence[str], until: float) -> tuple[PropertyResult, ...]:
        told = bounds_of(clauses)
        good = "ok" in {c.text for c in clauses} and max(told.get("n * m", 1 << 40), told.get("n", 0)) <= 5000
        return (PropertyResult("overflow", Verdict.PROVED if good else Verdict.UNKNOWN),)

    bare = KernelVerdicts((PropertyResult("overflow", Verdict.UNKNOWN),), ())
    (result,) = frontier.bounded(bare, contract("copy", "n * m"), 1 << 30, ("ok",), probe, 1e18)
    assert result.safe_for == "ok and buffers of at most 5000 elements" and result.frontier == 5000


def test_no_time_no_bound(
    kernels: dict[str, Kernel], pool: SolverPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier, "SECONDS", 0.0)
    assert not any(p.safe_for for p in judged(kernels["squares"], pool).values())


def test_what_is_proved_says_nothing(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    assert not any(p.safe_for for p in judged(kernels["shorter"], pool).values())
