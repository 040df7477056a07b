"""A clause evaluated at concrete sizes and the same clause as a term over constants have one value."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from specs.clauses import INT_TYPES, ClauseUndefined, evaluate
from verifier.smt.terms import Const, Term, Terms
from verifier.symex.launch import ClauseLowering

_VALUES = st.one_of(st.integers(-9, 9), st.integers(-(1 << 40), 1 << 40))
_LEAVES = st.one_of(st.sampled_from(["a", "b", "c"]), st.integers(0, 1 << 33).map(str))


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.sampled_from(["+", "-", "*", "//", "%", "<", "<=", "==", "!=", ">", ">=", " and ", " or "])
    unary = st.sampled_from(["-", "not ", "+", "abs", "pow2", *INT_TYPES])
    many = st.sampled_from(["min", "max"])
    return st.one_of(
        st.tuples(inner, binary, inner).map(lambda x: f"({x[0]}{x[1]}{x[2]})"),
        st.tuples(unary, inner).map(lambda x: f"({x[0]}({x[1]}))"),
        st.tuples(many, inner, inner).map(lambda x: f"{x[0]}({x[1]}, {x[2]})"),
        st.tuples(inner, inner).map(lambda x: f"ceil_div({x[0]}, {x[1]})"),
        st.tuples(inner, inner, inner).map(lambda x: f"({x[0]} if {x[1]} else {x[2]})"),
        st.tuples(inner, inner, inner).map(lambda x: f"({x[0]} < {x[1]} <= {x[2]})"),
    )


@given(st.recursive(_LEAVES, _grown, max_leaves=8), _VALUES, _VALUES, _VALUES)
def test_a_value_is_that_of_the_term(text: str, a: int, b: int, c: int) -> None:
    values = {"a": a, "b": b, "c": c}
    try:
        value = evaluate(text, values)
    except ClauseUndefined:
        return
    t = Terms()

    def wraps(exact: Term, bits: int, signed: bool, operand: ast.expr | str) -> Term:
        return t.wrap(exact, bits, signed)

    term = ClauseLowering(t, {name: t.const(v) for name, v in values.items()}, wraps).int(text)
    assert isinstance(term, Const), text
    assert term.value == value, text


def test_a_wrap_is_told_with_its_type_and_exact_value() -> None:
    told: list[tuple[str, int]] = []
    value = evaluate(
        "i32(2 * n) + u8(n - 300)", {"n": 1 << 30}, lambda type_, exact: told.append((type_, exact))
    )
    assert value == -(1 << 31) + (-300 % 256)
    assert told == [("i32", 1 << 31), ("u8", (1 << 30) - 300)]
