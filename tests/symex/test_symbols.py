"""What clauses say of symbols: every allowed assignment has a value in the terms' intervals and products."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from specs.clauses import evaluate
from specs.contract import Clause, Contract, Launch, Symbol
from verifier.smt.terms import Const, Terms, show
from verifier.symex.symbols import divide, equate, pinned, symbol_terms, texts


def contract(*texts_: str, low: int = 0) -> Contract:
    symbols = tuple(Symbol(n, "scalar", low=low, high=12) for n in "abc")
    requires = tuple(Clause(text, "enforced") for text in texts_)
    return Contract("k", (), Launch("k", (), ("1",) * 3, ("1",) * 3), symbols, (), (), requires, "lifted")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "clauses",
    [
        ("a != 0",), ("a > 2", "not (b == 0 or c < 3)"), ("3 <= a", "9 > b"), ("a % 3 == 0",), ("a % 2 == 0", "a % 3 == 0"),
        ("b >= 1", "a % b == 0"), ("b >= 2", "a % b == 0", "a % 4 == 0"), ("a == b", "a % 2 == 0"), ("a % 4 == 0", "c == 5"),
        ("a >= 1 and b >= 1", "a * b <= 7"), ("a == 4",), ("not (a % 2 != 0)",), ("b >= 1", "a % b == 0", "c % b == 0"),
        ("a % 2 == 0 or b == 1",), ("a >= 5", "a <= 3"),
    ],
)  # fmt: skip
def test_every_allowed_assignment_is_kept(clauses: Sequence[str]) -> None:
    t, c = Terms(), contract(*clauses)
    symbols = symbol_terms(t, c, 1 << 30)
    equate(symbols, c, t)
    divide(symbols, c, t)
    allowed = 0
    for a, b, n in itertools.product(range(13), repeat=3):
        values = {"a": a, "b": b, "c": n}
        if not all(
            evaluate(text, values) for text in clauses if not ("%" in text and "b" in text and b == 0)
        ):
            continue
        allowed += 1
        pins = pinned(symbols, values, t)
        for atom, value in pins.items():
            assert isinstance(value, Const)
            assert atom.lo is None or atom.lo <= value.value, (values, atom)
            assert atom.hi is None or value.value <= atom.hi, (values, atom)
        for name, term in symbols.items():
            got = t.rebuild(term, pins.get, {})
            assert isinstance(got, Const) and got.value == values[name], (values, name)
    assert allowed or clauses == ("a >= 5", "a <= 3")


def test_a_divided_symbol_is_a_product_and_has_a_text() -> None:
    t, c = Terms(), contract("b >= 1", "a % b == 0", "c % 4 == 0", low=1)
    symbols = symbol_terms(t, c, 1 << 30)
    divide(symbols, c, t)
    assert t.rem(symbols["a"], symbols["b"]) is t.zero
    assert show(t.quot(symbols["c"], t.const(4))) == "c/4"
    assert {"(a // b)", "(c // 4)"} <= set(texts(symbols).values())


def test_a_clause_that_nobody_accepted_changes_nothing() -> None:
    t = Terms()
    c = contract("a % 2 == 0", "b != 0")
    c = Contract(**{f: getattr(c, f) for f in c.__dataclass_fields__} | {"requires": tuple(
        Clause(x.text, "stated", accepted=False) for x in c.requires)})  # fmt: skip
    symbols = symbol_terms(t, c, 1 << 30)
    divide(symbols, c, t)
    assert symbols["a"].op == "app" and symbols["b"].lo == 0
