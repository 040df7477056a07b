"""Which loops are shown to end."""

from __future__ import annotations

import pytest

from specs.contract import Buffer, Contract, Launch, Scalar, Symbol
from tests.frontend.reading import read
from verifier.smt.terms import show
from verifier.symex.execute import summarize


def moves(loop: str) -> str:
    """What the end of the one loop rests on; "?" where nothing says that it ends."""
    text = f"__global__ void k(float *x, int n, int p, unsigned u) {{ float a = 0; {loop} x[0] = a; }}"
    (kernel,) = read(text).kernels
    names = ("n", "p", "u")
    made = summarize(
        kernel,
        Contract(
            "k", (), Launch("k", (), ("1", "1", "1"), ("64", "1", "1")),
            tuple(Symbol(s, "scalar", "", 0 if s != "p" else -3, 100, None, "stated") for s in names),
            (Buffer("x", "f32", "64", ("64",), fresh=True, storage="x"),),
            tuple(Scalar(s, s, "stated") for s in names), (), "stated",
        ),
        cap=1 << 20,
    )  # fmt: skip
    (end,) = made.loops
    return "?" if end.moves is None else show(end.moves, 5)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0; i < n; ++i) a += i;",
        "for (int i = threadIdx.x; i < n; i += blockDim.x) a += i;",
        "for (int i = n; i >= 0; i--) a += i;",
        "for (int i = n; i > 0; i >>= 1) a += i;",
        "for (int i = n; i >= 1; i /= 2) a += i;",
        "for (int i = 1; i < n; i *= 2) a += i;",
        "for (int i = 0; i < n && a < 3; ++i) a += i;",
        "int i = 0; while (i < n) { a += i; ++i; }",
    ],
)
def test_counters_end(loop: str) -> None:
    assert moves(loop) == "true"


def test_a_step_of_unknown_sign_is_claimed() -> None:
    assert moves("for (int i = 0; i < n; i += p) a += i;") == "(1 - p) <= 0"


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = n; i != 0; i -= 2) a += i;",
        "for (int i = n; i >= 0; i >>= 1) a += i;",
        "for (unsigned i = u; i >= 0; i /= 2) a += i;",
        "for (int i = n; i > p; i >>= 1) a += i;",
        "for (int i = 0; i < n; ++i) { n = i + 2; }",
        "for (int i = 0; i < n || a < 3; ++i) a += i;",
        "int i = 1; while (i < n) { if (a > 3) continue; i *= 2; }",
        "while (a < 3) a += x[1];",
    ],
)
def test_others_do_not(loop: str) -> None:
    assert moves(loop) == "?"


def test_doubling_starts_at_one() -> None:
    assert moves("for (int i = n; i < 1000; i *= 2) a += i;") == "(1 - n) <= 0"
