"""Symbolic values mean what C computes: compared with C arithmetic on random values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specs.clauses import INT_TYPES, evaluate, int_range, trunc_div, wrap
from verifier.contracts import values as v

TYPES = ("i32", "u32", "i64", "u64")


def unknown(name: str, type_: str) -> v.Int:
    return v.symbol(name, *int_range(*INT_TYPES[type_]), type_)


def c_operation(op: str, a: int, b: int) -> int | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return trunc_div(a, b) if b else None
        case "%":
            return a - b * trunc_div(a, b) if b else None
        case "<<":
            return a << b
        case ">>":
            return a >> b
        case "&":
            return a & b
    raise AssertionError(op)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(TYPES), st.sampled_from("+-*/%"), st.integers(), st.integers())
def test_arithmetic_at_a_type_is_c(type_: str, op: str, x: int, y: int) -> None:
    a, b = (wrap(n, *INT_TYPES[type_]) for n in (x, y))
    want = c_operation(op, a, b)
    if want is None:
        return
    made = v.arith(op, unknown("a", type_), unknown("b", type_), type_)
    assert made is not None
    assert evaluate(made.text, {"a": a, "b": b}) == wrap(want, *INT_TYPES[type_])


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(TYPES),
    st.sampled_from(["+", "-", "*", "/", "%", "<<", ">>", "&"]),
    st.integers(),
    st.one_of(st.integers(-5, 70), st.sampled_from([255, 256, -32, -256, 31, 1024, 1 << 31])),
)
def test_arithmetic_with_a_constant_is_c(type_: str, op: str, x: int, c: int) -> None:
    a = wrap(x, *INT_TYPES[type_])
    bits = INT_TYPES[type_][0]
    if op in ("<<", ">>") and not 0 <= c < bits:
        return
    c = wrap(c, *INT_TYPES[type_])
    made = v.arith(op, unknown("a", type_), v.const(c, type_), type_)
    want = c_operation(op, a, c)
    if made is None or want is None:
        return
    assert evaluate(made.text, {"a": a}) == wrap(want, *INT_TYPES[type_])
    low, high = made.lo, made.hi
    assert low is None or low <= wrap(want, *INT_TYPES[type_])
    assert high is None or wrap(want, *INT_TYPES[type_]) <= high


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TYPES), st.sampled_from(TYPES), st.integers())
def test_conversion_is_c(source: str, target: str, x: int) -> None:
    a = wrap(x, *INT_TYPES[source])
    made = v.convert(unknown("a", source), target)
    assert evaluate(made.text, {"a": a}) == wrap(a, *INT_TYPES[target])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("+-"), st.integers(0, 9)), max_size=6), st.integers(0, 1000))
def test_constants_at_the_end_fold_exactly(steps: list[tuple[str, int]], n: int) -> None:
    term, want = v.symbol("n", 0, v.DIM_MAX), n
    for op, count in steps:
        made = v.arith(op, term, v.const(count, "py"), "py")
        assert made is not None
        term, want = made, c_operation(op, want, count) or 0
    assert evaluate(term.text, {"n": n}) == want


def test_a_narrowing_is_always_written() -> None:
    dim = v.symbol("n", 0, v.DIM_MAX)
    assert v.convert(dim, "i32").text == "i32(n)"
    assert v.convert(dim, "u64").text == "n"


def test_the_promoted_type_is_cs() -> None:
    assert v.common("i32", "u32") == "u32"
    assert v.common("u8", "i16") == "i32"
    assert v.common("u32", "i64") == "i64"
    assert v.common("i64", "u64") == "u64"
    assert v.common("bool", "bool") == "i32"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("(n * 4)", "(n)"),
        ("((a + b) * 8)", "((a + b) * 2)"),
        ("(n * 3)", None),
        ("u64(n * 4)", None),
        ("(4 * n)", "(n)"),
    ],
)
def test_only_exact_quotients_are_simplified(text: str, want: str | None) -> None:
    assert v.exact_quotient(text, 4) == want


def test_the_interval_of_a_clamped_value() -> None:
    grid = v.symbol("g", 0, v.DIM_MAX)
    capped = v.choose(v.compare(">", grid, v.const(1024)), v.const(1024), grid)
    assert (capped.lo, capped.hi) == (0, 1024)
