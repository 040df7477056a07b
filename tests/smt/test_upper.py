"""Bounds in sizes alone are bounds, and clause texts say what the terms say: random terms against Python's integers."""

from __future__ import annotations

import random

import pytest

from specs.clauses import evaluate, trunc_div
from verifier.prover.clause_texts import at_most_zero, text_of
from verifier.smt.definitions import closure, quotient_bounds
from verifier.smt.terms import Const, PolyTerm, Term, Terms
from verifier.smt.upper import Uppers


def value(term: Term, env: dict[str, int]) -> int:
    if isinstance(term, Const):
        return term.value
    if isinstance(term, PolyTerm):
        total = 0
        for mono, coef in term.monos:
            for a in mono:
                coef *= value(a, env)
            total += coef
        return total
    if term.op == "app":
        return env[term.name]
    a, b = (value(x, env) for x in term.args)
    return trunc_div(a, b) if term.op == "quot" else a - b * trunc_div(a, b)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_are_bounds(seed: int) -> None:
    rng = random.Random(seed)
    t = Terms()
    n, m, w = (t.app(x, (), 0, 1, 50) for x in "nmw")
    i, j = (t.app(x, (), 2, 0, 1000) for x in "ij")
    facts = [t.lt(i, n), t.lt(j, t.mul(m, w))]
    leaves = [
        i,
        j,
        n,
        m,
        w,
        t.quot(j, w),
        t.rem(j, w),
        t.quot(i, t.const(3)),
        t.mul(i, m),
        t.mul(t.quot(j, w), n),
    ]
    term = t.total(t.mul(t.const(rng.randint(-3, 4)), x) for x in rng.sample(leaves, 4))
    for x in (n, m, w, i, j):
        facts += [t.le(t.zero, x)]
    for bound in Uppers(t, [*facts, *quotient_bounds(t, [*facts, term])]).above(term):
        assert bound.level == 0
        for _ in range(60):
            env = {k: rng.randint(1, 7) for k in "nmw"}
            env |= {"i": rng.randrange(env["n"]), "j": rng.randrange(env["m"] * env["w"])}
            assert value(term, env) <= value(bound, env)


def test_the_bound_of_a_row_and_of_a_plane() -> None:
    t = Terms()
    rows, cols, total = (t.app(x, (), 0, 1, 1 << 20) for x in ("rows", "cols", "total"))
    r, c, i = (t.app(x, (), 2, 0, 1 << 20) for x in "rci")
    facts = [t.lt(r, rows), t.lt(c, cols), t.lt(i, total)]
    names = {rows: "rows", cols: "cols", total: "total"}
    found = Uppers(t, facts).above(t.add(t.add(t.mul(r, cols), c), t.one))
    assert text_of(found[0], names) == "rows * cols"
    plane = t.quot(i, cols)
    goal = t.add(t.mul(plane, rows), rows)
    (best, *_) = Uppers(t, [*facts, *closure(t, [goal], {})]).above(goal)
    assert text_of(best, names) == "rows * ceil_div(total, cols)"


@pytest.mark.parametrize("seed", range(20))
def test_texts_mean_the_terms(seed: int) -> None:
    rng = random.Random(seed)
    t = Terms()
    names = {t.app(x, (), 0, -5, 40): x for x in "abc"}
    a, b, c = names
    three = t.const(3)
    leaves = [
        a,
        b,
        c,
        t.mul(a, b),
        t.quot(t.add(b, t.const(40)), three),
        t.rem(c, three),
        t.mul(t.mul(a, c), b),
    ]
    term = t.total(
        [
            t.const(rng.randint(-20, 20)),
            *(t.mul(t.const(rng.choice((-6, -2, 1, 3))), x) for x in rng.sample(leaves, 3)),
        ]
    )
    text = at_most_zero(t, term, names, frozenset("c"))
    assert text is not None
    for _ in range(200):
        env = {x: rng.randint(-5, 40) for x in "abc"}
        assert evaluate(text, env) == (value(term, env) <= 0)


@pytest.mark.parametrize("seed", range(20))
def test_quotients_of_larger_numbers_are_larger(seed: int) -> None:
    """Every lemma on quotients holds wherever what it was made from holds."""
    rng = random.Random(seed)
    t = Terms()
    i = t.app("i", (), 2, 0, 60)
    b = t.app("b", (), 0, 1, 9)
    n = t.app("n", (), 0, -9, 60)
    gap = rng.randint(-2, 3)
    fact = t.le(t.add(i, t.const(gap)), n)
    mentioned = t.le(t.quot(i, b), t.quot(t.add(n, t.mul(t.const(rng.randint(0, 2)), b)), b))
    lemmas = quotient_bounds(t, [fact, t.le(t.zero, mentioned.args[0])])
    for _ in range(300):
        env = {"i": rng.randint(0, 60), "b": rng.randint(1, 9), "n": rng.randint(-9, 60)}
        if value(fact.args[0], env) <= 0:
            assert all(value(x.args[0], env) <= 0 for x in lemmas if x.op == "le0")
