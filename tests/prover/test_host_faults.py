"""Host faults are confirmed with Python's integers, and only inside the contract."""

from __future__ import annotations

from specs.clauses import holds
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from verifier.prover import host_faults
from verifier.prover.sizes import equal_sizes, large_sizes


def contract(grid: str, block: str = "256", shared: str = "0", *requires: str) -> Contract:
    return Contract(
        "k", (), Launch("k", (), (grid, "1", "1"), (block, "1", "1"), shared), (Symbol("a", "dim"), Symbol("b", "dim")),
        (Buffer("x", "f32", "a"),), (Scalar("n", "i32(a * b)"),),
        tuple(Clause(r, "enforced") for r in ("a <= 1073741824", "b <= 1073741824", *requires)), "lifted",
    )  # fmt: skip


def test_an_argument_that_wraps_is_found_among_the_large_sizes() -> None:
    made = contract("1")
    found = host_faults.first(made, large_sizes(made), "overflow", 0)
    assert found is not None
    told, values = found
    assert "argument n" in told
    assert values["a"] * values["b"] > (1 << 31) - 1
    assert holds(made, values)


def test_no_fault_where_the_contract_excludes_it() -> None:
    made = contract("1", "256", "0", "a * b <= 1048576")
    assert host_faults.first(made, (*equal_sizes(made), *large_sizes(made)), "overflow", 0) is None


def test_unsigned_wrap_is_not_a_fault_by_itself() -> None:
    made = contract("u64(a - b)")
    values = {"a": 1, "b": 2}
    assert (
        host_faults.overflow(
            Contract(**{**{f: getattr(made, f) for f in made.__dataclass_fields__}, "scalars": ()}), values
        )
        is None
    )


def test_refused_launches() -> None:
    values = {"a": 5, "b": 7}
    assert "1024" in (host_faults.refused(contract("1", "1025"), values, 0) or "")
    assert "empty" in (host_faults.refused(contract("a - 5"), values, 0) or "")
    assert "shared" in (host_faults.refused(contract("1", "256", "4 * a"), values, 49_140) or "")
    assert host_faults.refused(contract("a", "256", "4 * a"), values, 1000) is None
    assert "__launch_bounds__" in (host_faults.refused(contract("a"), values, 0, (), 128) or "")
    assert host_faults.refused(contract("a"), values, 0, (), 256) is None


def test_the_problems_own_sizes_come_first() -> None:
    made = Contract(
        "k", (), Launch("k", (), ("1", "1", "1"), ("1", "1", "1")),
        (Symbol("a", "dim", value=77), Symbol("s", "scalar", value=3)), (), (), (), "lifted",
    )  # fmt: skip
    assert large_sizes(made)[0] == {"a": 77, "s": 3}


def test_an_empty_input_belongs_to_the_edge_domain() -> None:
    made = contract("a - b")
    empty = {"a": 0, "b": 1}
    assert host_faults.refused(made, empty, 0) is not None
    assert host_faults.empty_input(made, empty)
    assert host_faults.first(made, (empty,), "launch", 0) is None
    assert host_faults.first(made, ({"a": 1, "b": 1},), "launch", 0) is not None
