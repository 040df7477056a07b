"""Small launches satisfy the contract, differ in kind, and are the same for the same seed."""

from __future__ import annotations

import pytest

from sanitizers.sampling import small_launches
from specs.clauses import holds, instantiate
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol


def contract(
    symbols: list[Symbol],
    requires: list[str],
    grid: tuple[str, str, str],
    block: tuple[str, str, str],
    extent: str,
) -> Contract:
    return Contract(
        "k", (), Launch("k", (), grid, block), tuple(symbols), (Buffer("x", "f32", extent),), (Scalar("n", None),),
        tuple(Clause(text, "stated") for text in requires), "stated",
    )  # fmt: skip


def dim(name: str, value: int | None = None, low: int = 1, high: int | None = None) -> Symbol:
    return Symbol(name, "dim", low=low, high=high, value=value)


ONE = contract([dim("n")], [], ("ceil_div(n, 256)", "1", "1"), ("256", "1", "1"), "n")
MATMUL = contract(
    [dim("M", 1024), dim("K", 4096), dim("N", 2048), dim("K2", 4096)], ["K == K2", "K % 4 == 0", "M * K <= 1073741824"],
    ("ceil_div(N, 16)", "ceil_div(M, 16)", "1"), ("16", "16", "1"), "M * K",
)  # fmt: skip
FLAT = contract(
    [dim("total"), dim("N"), dim("C"), dim("H"), Symbol("groups", "scalar", low=1)],
    ["total == N * C * H", "C % groups == 0", "groups > 1"], ("ceil_div(total, 128)", "1", "1"), ("128", "1", "1"), "total",
)  # fmt: skip
POWER = contract([dim("b", high=1024)], ["pow2(b)", "b >= 32"], ("4", "1", "1"), ("b", "1", "1"), "4 * b")
CHAINS = contract(
    [dim(f"{t}_{i}") for t in "xyz" for i in range(4)],
    [f"{a}_{i} == {b}_{i}" for a, b in ("xy", "zx") for i in range(4)] + ["i32(y_3) == 64"],
    ("x_0", "1", "1"), ("64", "1", "1"), "x_0 * x_1 * x_2 * x_3",
)  # fmt: skip
FIXED = contract(
    [Symbol("k", "scalar", value=7), dim("n", 1 << 20)],
    ["n > k"],
    ("ceil_div(n, 64)", "1", "1"),
    ("64", "1", "1"),
    "n",
)


@pytest.mark.parametrize("item", [ONE, MATMUL, FLAT, POWER, CHAINS, FIXED])
@pytest.mark.parametrize("seed", [0, 1])
def test_launches_are_allowed_small_and_several(item: Contract, seed: int) -> None:
    launches = small_launches(item, count=5, seed=seed, max_threads=4096)
    assert len(launches) >= 4
    assert launches == small_launches(item, count=5, seed=seed, max_threads=4096)
    assert len({tuple(sorted(v.items())) for v in launches}) == len(launches)
    blocks = []
    for values in launches:
        assert holds(item, values)
        launch = instantiate(item, values)
        gx, gy, gz = launch.grid
        bx, by, bz = launch.block
        assert gx * gy * gz * bx * by * bz <= 4096
        blocks.append(gx * gy * gz)
    assert blocks[0] >= 2 and (min(blocks) == 1 or item is POWER)


def test_a_scalar_with_a_value_keeps_it() -> None:
    assert {v["k"] for v in small_launches(FIXED, count=6, seed=0, max_threads=4096)} == {7}


def test_a_contradiction_has_no_launch() -> None:
    item = contract([dim("n")], ["n > 5", "n < 3"], ("n", "1", "1"), ("32", "1", "1"), "n")
    assert small_launches(item, count=3, seed=0, max_threads=4096) == []


def test_a_launch_that_is_always_large_is_still_offered() -> None:
    item = contract([dim("n")], [], ("4096", "1", "1"), ("256", "1", "1"), "n")
    (values,) = small_launches(item, count=3, seed=0, max_threads=4096)
    assert values["n"] >= 1


def test_a_launch_that_no_memory_holds_is_not() -> None:
    item = contract([dim("n")], [], ("4096", "1", "1"), ("256", "1", "1"), "n * 25088 * 4096")
    assert small_launches(item, count=3, seed=0, max_threads=4096) == []
