"""Terms denote what C computes: random expressions built through the store, evaluated against Python integers."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specs.clauses import trunc_div, wrap
from verifier.smt.bounds import Bounds
from verifier.smt.definitions import closure, interval, quotient_bounds
from verifier.smt.terms import Const, PolyTerm, Term, Terms, atoms


def value(term: Term, env: Mapping[str, int]) -> int:
    """Reference semantics of a term (booleans 0/1)."""
    if isinstance(term, Const):
        return term.value
    if isinstance(term, PolyTerm):
        total = 0
        for mono, coef in term.monos:
            part = coef
            for a in mono:
                part *= value(a, env)
            total += part
        return total
    a = [value(x, env) for x in term.args]
    match term.op:
        case "app" | "bapp":
            return env[term.name]
        case "quot":
            return trunc_div(a[0], a[1])
        case "rem":
            return a[0] - a[1] * trunc_div(a[0], a[1])
        case "ite":
            return a[1] if a[0] else a[2]
        case "min":
            return min(a)
        case "max":
            return max(a)
        case "wrap":
            return wrap(a[0], int(term.name[1:]), term.name[0] == "i")
        case "le0":
            return int(a[0] <= 0)
        case "eq0":
            return int(a[0] == 0)
        case "not":
            return int(not a[0])
        case "and":
            return int(all(a))
        case "or":
            return int(any(a))
        case "true":
            return 1
        case "false":
            return 0
    raise AssertionError(term.op)


INTERVALS = {"i": (0, 60), "w": (1, 5), "h": (1, 5), "c": (1, 4), "s": (-9, 9), "n": (0, 100)}


def build(t: Terms, rng: random.Random, depth: int) -> tuple[Term, object]:
    """A random integer term and a function of the environment that computes it without the store."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.3:
            k = rng.randint(-8, 8)
            return t.const(k), lambda env, k=k: k
        name = rng.choice(list(INTERVALS))
        lo, hi = INTERVALS[name]
        return t.app(name, (), 0, lo, hi), lambda env, name=name: env[name]
    a, fa = build(t, rng, depth - 1)
    b, fb = build(t, rng, depth - 1)
    match rng.choice(["add", "sub", "mul", "quot", "rem", "quot", "rem", "min", "max", "wrap", "ite"]):
        case "add":
            return t.add(a, b), lambda env: fa(env) + fb(env)
        case "sub":
            return t.sub(a, b), lambda env: fa(env) - fb(env)
        case "mul":
            return t.mul(a, b), lambda env: fa(env) * fb(env)
        case "quot":
            return t.quot(a, b), lambda env: trunc_div(fa(env), fb(env))
        case "rem":
            return t.rem(a, b), lambda env: fa(env) - fb(env) * trunc_div(fa(env), fb(env))
        case "min":
            return t.minimum(a, b), lambda env: min(fa(env), fb(env))
        case "max":
            return t.maximum(a, b), lambda env: max(fa(env), fb(env))
        case "wrap":
            return t.wrap(a, 8, True), lambda env: wrap(fa(env), 8, True)
        case _:
            return t.ite(t.lt(a, b), b, t.neg(a)), lambda env: fb(env) if fa(env) < fb(env) else -fa(env)


def environment(rng: random.Random) -> dict[str, int]:
    return {k: rng.randint(*v) for k, v in INTERVALS.items()}


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 40))
def test_terms_denote_what_c_computes(seed: int) -> None:
    rng = random.Random(seed)
    t = Terms()
    term, direct = build(t, rng, 4)
    for _ in range(12):
        env = environment(rng)
        try:
            want = direct(env)
        except ArithmeticError:
            continue
        got = value(term, env)
        assert got == want, term
        assert term.lo is None or term.lo <= got
        assert term.hi is None or got <= term.hi


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1 << 40))
def test_the_order_of_divisors_changes_no_value(seed: int) -> None:
    first = Terms()
    build(first, random.Random(seed), 4)
    t = Terms(order=frozenset(first.radices.seen))
    rng = random.Random(seed)
    term, meaning = build(t, rng, 4)
    for _ in range(8):
        env = environment(rng)
        try:
            expected = meaning(env)  # type: ignore[operator]
        except ArithmeticError:
            continue
        assert value(term, env) == expected


def test_divisors_that_lie_across_an_order_are_noted() -> None:
    def divided(t: Terms) -> Term:
        n, i = t.app("n", (), 0, 1, 1000), t.app("i", (), 2, 0, 1 << 20)
        d = t.mul(t.const(16), t.app("c", (), 0, 1, 8))
        whole = t.rem(i, t.mul(d, n))
        return t.quot(whole, d)

    t = Terms()
    divided(t)
    assert t.radices.crossed
    again = Terms(order=frozenset(t.radices.seen))
    i, n = again.app("i", (), 2, 0, 1 << 20), again.app("n", (), 0, 1, 1000)
    d = again.mul(again.const(16), again.app("c", (), 0, 1, 8))
    assert divided(again) is again.rem(again.quot(i, d), n)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1 << 40))
def test_comparisons_and_connectives_keep_their_truth(seed: int) -> None:
    rng = random.Random(seed)
    t = Terms()
    pairs = [(build(t, rng, 2), build(t, rng, 2)) for _ in range(3)]
    makers = [(t.lt, int.__lt__), (t.le, int.__le__), (t.eq, int.__eq__), (t.ne, int.__ne__)]
    chosen = [rng.choice(makers) for _ in pairs]
    terms = [m[0](x[0], y[0]) for m, (x, y) in zip(chosen, pairs, strict=True)]
    p, q, r = terms
    combined = t.or_(t.and_(p, q), t.and_(p, t.not_(q), r), t.not_(t.or_(p, r)))
    for _ in range(15):
        env = environment(rng)
        try:
            truth = [m[1](x[1](env), y[1](env)) for m, (x, y) in zip(chosen, pairs, strict=True)]
        except ArithmeticError:
            continue
        for term, want in zip(terms, truth, strict=True):
            assert value(term, env) == want
        a, b, c = truth
        assert value(combined, env) == int((a and b) or (a and not b and c) or not (a or c))


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 40))
def test_what_bounds_proves_has_no_counterexample(seed: int) -> None:
    """The solver-free prover is sound: facts that hold never lead it to a goal that fails."""
    rng = random.Random(seed)
    t = Terms()
    hyps = []
    for _ in range(rng.randint(1, 3)):
        a, b = build(t, rng, 2)[0], build(t, rng, 2)[0]
        hyps.append(rng.choice([t.lt, t.le, t.eq, t.ne])(a, b))
    goal = rng.choice([t.lt, t.le, t.ne])(build(t, rng, 2)[0], build(t, rng, 2)[0])
    facts = closure(t, [*hyps, goal], {})
    facts += quotient_bounds(t, [*hyps, *facts])
    if not Bounds(t, [*hyps, *facts]).prove(goal):
        return
    for _ in range(60):
        env = environment(rng)
        try:
            if all(value(h, env) for h in hyps):
                assert value(goal, env), (hyps, goal, env)
        except ArithmeticError:
            continue


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1 << 40))
def test_definitions_and_quotient_lemmas_hold(seed: int) -> None:
    rng = random.Random(seed)
    t = Terms()
    terms = [build(t, rng, 3)[0] for _ in range(2)]
    hyp = t.lt(terms[0], terms[1])
    facts = closure(t, [hyp], {})
    lemmas = quotient_bounds(t, [hyp, *facts])
    ranges = [f for a in atoms([hyp]) for f in interval(t, a)]
    for _ in range(25):
        env = environment(rng)
        try:
            for f in (*facts, *ranges):
                assert value(f, env), f
            if value(hyp, env):
                for f in lemmas:
                    assert value(f, env), (hyp, f, env)
        except ArithmeticError:
            continue


def test_digits_of_a_flat_index_are_shared_however_they_are_written() -> None:
    t = Terms()
    i = t.app("i", (), 2, 0, 1 << 40)
    c, h, w = (t.app(n, (), 0, 1, 1 << 20) for n in "chw")
    rest = t.rem(i, t.product([c, h, w]))
    assert t.quot(rest, t.mul(h, w)) is t.rem(t.quot(i, t.mul(w, h)), c)
    assert t.rem(rest, w) is t.rem(i, w)
    assert t.quot(t.rem(rest, t.mul(h, w)), w) is t.rem(t.quot(i, w), h)


def test_negative_dividends_keep_c_meaning() -> None:
    t = Terms()
    x = t.app("x", (), 2, -10, 10)
    n = t.app("n", (), 0, 1, 100)
    assert t.le(t.zero, t.rem(x, n)) is not t.true
    facts = closure(t, [t.rem(x, n)], {})
    assert not Bounds(t, facts).prove(t.le(t.zero, t.rem(x, n)))


@pytest.mark.parametrize("bits,signed", [(8, True), (8, False), (32, True), (32, False)])
def test_wrap_of_constants(bits: int, signed: bool) -> None:
    t = Terms()
    for v in (-1, 0, 127, 128, 255, 256, 1 << 31, (1 << 32) + 5, -(1 << 31) - 1):
        assert value(t.wrap(t.const(v), bits, signed), {}) == wrap(v, bits, signed)


def test_a_quotient_and_its_remainder_are_joined_again_when_divided() -> None:
    t = Terms()
    x, y = t.app("x", (), 2, 0, 1 << 20), t.app("y", (), 2, 0, 63)
    a = t.add(t.mul(t.const(64), x), y)
    b = t.add(t.mul(t.const(32), t.quot(a, t.const(32))), t.rem(a, t.const(32)))
    assert t.quot(b, t.const(64)) is x and t.rem(b, t.const(64)) is y
    free = t.app("d", (), 0, 0, 9)
    c = t.add(t.mul(free, t.quot(a, free)), t.rem(a, free))
    assert t.quot(c, t.const(64)) is not x  # nothing is known where the divisor is 0


def test_one_name_with_two_intervals_is_two_unknowns() -> None:
    t = Terms()
    narrow, wide = t.app("f", (t.one,), 2, 0, 31), t.app("f", (t.one,), 2, -8, 63)
    assert (narrow.lo, narrow.hi, wide.lo, wide.hi) == (0, 31, -8, 63)
    assert narrow is not wide and narrow.name != wide.name
    assert wide is t.app("f", (t.one,), 2, -8, 63)
    assert t.rename(wide, "1", 2, {}) is not t.rename(narrow, "1", 2, {})
