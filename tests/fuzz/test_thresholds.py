"""Sizes on both sides of the conditions that a kernel puts on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuzz.thresholds import compares, conditions, decided, elsewhere, widened
from specs import clauses
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from verifier import frontend, source
from verifier.ir.nodes import Kernel
from verifier.isolation import probe

TEXT = """
__global__ void scale(const float* x, float* y, int rows, int cols, int mode) {
    int n = rows * cols;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (n > LIMIT) y[i] = x[i]; else y[i] = 2.0f * x[i];
    if (mode == 1) y[i] += 1.0f;
    if (x[i] > 3.0f && gridDim.x > 1) y[i] = 0.0f;
}
"""


def read(folder: Path, limit: str) -> Kernel:
    (folder / "k.cu").write_text(TEXT.replace("LIMIT", limit))
    device = source.load(folder / "k.cu", root=None, sandbox=probe()).device
    return frontend.parse_device(device, (), sandbox=probe()).kernels[0]


def contract(mode: int | None) -> Contract:
    symbols = (
        Symbol("rows", "dim", low=1, value=4096), Symbol("cols", "dim", low=1, value=4096),
        Symbol("mode", "scalar", value=mode),
    )  # fmt: skip
    buffers = tuple(Buffer(p, "f32", "rows * cols", ("rows", "cols")) for p in ("x", "y"))
    scalars = tuple(Scalar(n, f"i32({n})") for n in ("rows", "cols", "mode"))
    launch = Launch("scale", (), ("ceil_div(rows * cols, 256)", "1", "1"), ("256", "1", "1"))
    return Contract("scale", (), launch, symbols, buffers, scalars, (), "lifted")


SMALL = ({"rows": 2, "cols": 3, "mode": 1}, {"rows": 1, "cols": 300, "mode": 1})


def test_a_way_for_large_sizes_is_entered(tmp_path: Path) -> None:
    kernel, made = read(tmp_path, "100000"), contract(1)
    texts = list(conditions(compares(kernel), made).values())
    assert len(texts) == 3 and any("> 100000" in t for t in texts)
    pool, out_of_reach = widened(SMALL, made, kernel, seed=0)
    assert all(s in pool for s in SMALL) and not out_of_reach
    assert any(s["rows"] * s["cols"] > 100000 for s in pool)
    assert all(s["mode"] == 1 for s in pool), "the problem fixes it"


def test_a_scalar_that_nobody_fixes_takes_both_ways(tmp_path: Path) -> None:
    pool, _ = widened(SMALL, contract(None), read(tmp_path, "10"), seed=0)
    assert {s["mode"] == 1 for s in pool} == {True, False}


def test_a_way_that_no_run_can_enter_is_named(tmp_path: Path) -> None:
    pool, out_of_reach = widened(SMALL, contract(1), read(tmp_path, "10000000"), seed=0)
    assert pool == SMALL and len(out_of_reach) == 1 and "> 10000000" in out_of_reach[0]


def test_a_launch_decides_the_same_comparisons(tmp_path: Path) -> None:
    kernel, made = read(tmp_path, "500"), contract(1)
    found = compares(kernel)
    said = conditions(found, made)
    for sizes in ({"rows": 2, "cols": 3, "mode": 0}, {"rows": 40, "cols": 30, "mode": 1}):
        launch = replace(clauses.instantiate(made, sizes))
        assert dict(decided(found, launch)) == {i: bool(clauses.evaluate(t, sizes)) for i, t in said.items()}


def test_the_problems_own_sizes_may_take_another_way() -> None:
    made = contract(1)
    small = replace(made, requires=(Clause("rows <= 100", "enforced"),))
    large = replace(made, requires=(Clause("rows > 100", "enforced"),))
    cap = replace(made, requires=(Clause("rows * cols <= 1000", "derived", note="size cap"),))
    assert not elsewhere([cap]), "a bound of the tool, not of the host code"
    assert elsewhere([small]) and not elsewhere([small, large]) and not elsewhere([])
    assert not elsewhere([replace(small, symbols=(*small.symbols, Symbol("k", "scalar")))]), "not known"
