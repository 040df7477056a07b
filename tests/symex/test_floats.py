"""Ranges of float terms hold for every value: random expressions evaluated in float32, with NaN and infinities as inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.smt.terms import Term, Terms
from verifier.symex.floats import Range, range_of

F = np.float32
INPUTS = st.floats(width=32, allow_nan=True, allow_infinity=True)
CONSTANTS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 0.1, 1e6, -3.25, 1e30, 16777217.0])
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fminf": lambda a, b: b if np.isnan(a) else a if np.isnan(b) else min(a, b),
    "fmaxf": lambda a, b: b if np.isnan(a) else a if np.isnan(b) else max(a, b),
}
UNARY = {
    "floorf": np.floor,
    "ceilf": np.ceil,
    "truncf": np.trunc,
    "rintf": np.rint,
    "fabsf": np.abs,
    "neg": lambda a: -a,
}


@st.composite
def trees(draw: st.DrawFn, t: Terms, depth: int = 4) -> tuple[Term, np.float32]:
    """A term and its value for some inputs."""
    kind = draw(
        st.sampled_from(
            ["input", "constant", "integer", "unary", "binary", "binary"] if depth else ["input", "constant"]
        )
    )
    if kind == "input":
        return t.float(t.fresh_name("x"), (), 2), F(draw(INPUTS))
    if kind == "constant":
        value = draw(CONSTANTS)
        return t.float(f"const:{value!r}:f32", (), 0), F(value)
    if kind == "integer":
        low = draw(st.integers(-(1 << 40), 1 << 40))
        high = low + draw(st.integers(0, 1 << 30))
        value = draw(st.integers(low, high))
        return t.float("i2f:f32", (t.app(t.fresh_name("i"), (), 2, low, high),), 0), F(value)
    if kind == "unary":
        name = draw(st.sampled_from(sorted(UNARY)))
        term, value = draw(trees(t, depth - 1))
        return t.float(name, (term,), 0), F(UNARY[name](value))
    name = draw(st.sampled_from(sorted(BINARY)))
    (a, x), (b, y) = draw(trees(t, depth - 1)), draw(trees(t, depth - 1))
    return t.float(name, (a, b), 0), F(BINARY[name](x, y))


def inside(value: np.float32, known: Range) -> bool:
    return known.nan if np.isnan(value) else known.low <= float(value) <= known.high


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_every_value_is_in_its_range(data: st.DataObject) -> None:
    with np.errstate(all="ignore"):
        term, value = data.draw(trees(Terms()))
    assert inside(value, range_of(term))


def test_a_clamp_bounds_anything_and_a_comparison_excludes_nan() -> None:
    t = Terms()
    x = t.float("x", (), 2)
    zero, top = t.float("const:0.0:f32", (), 0), t.float("const:1000000.0:f32", (), 0)
    clamped = t.float("fminf", (t.float("fmaxf", (t.float("floorf", (x,), 0), zero), 0), top), 0)
    assert range_of(clamped) == Range(0.0, 1e6, False)
    assert range_of(t.float("fminf", (x, x), 0)).nan
    guard = (t.bapp("flt:ge", (x, zero), 0), t.bapp("flt:lt", (x, top), 0))
    assert range_of(x, guard) == Range(0.0, 1e6, False)
    negated = (t.not_(t.bapp("flt:lt", (x, zero), 0)), t.not_(t.bapp("flt:gt", (x, top), 0)))
    assert range_of(x, negated) == Range(-math.inf, math.inf, True)


@pytest.mark.parametrize("name", ["cvt:f16", "hfloor", "b2f", "__fdividef", "div", "min"])
def test_what_is_not_followed_can_be_anything(name: str) -> None:
    t = Terms()
    one = t.float("const:1.0:f32", (), 0)
    assert range_of(t.float(name, (one, one), 0)) == Range(-math.inf, math.inf, True)
