"""Statements for another solver: what is true is confirmed, what our fast path got wrong is contradicted."""

from __future__ import annotations

import pytest

from verifier.smt.bounds import Bounds
from verifier.smt.evidence import simplifications, statement, steps
from verifier.smt.second import BadScript, Second, SolverMissing, check
from verifier.smt.smtlib import script
from verifier.smt.solver import SolverPool
from verifier.smt.terms import Terms


def ask(text: str, solver: str = "z3") -> list[str]:
    with Second(solver, 5.0) as second:
        return list(second.ask(text).results)


def test_simplifications_hold() -> None:
    t = Terms(record=True)
    x, n = t.app("x", (), 2, -5, 1023), t.app("n", (), 0, 1, 1 << 20)
    assert t.le(t.mul(x, t.const(4)), t.const(5000)) is t.true
    assert t.eq(t.add(t.mul(x, t.const(6)), t.const(3)), t.zero) is t.false
    t.wrap(x, 32, True)
    t.le(t.mul(x, t.const(4)), t.const(7))
    digit = t.rem(t.app("i", (), 2, 0, 1 << 30), n)
    assert t.quot(t.add(t.mul(n, t.app("k", (), 2, 0, 9)), digit), n).op == "app"
    t.quot(x, t.const(7))
    t.and_(t.or_(t.le(x, n), t.le(n, t.zero)), t.not_(t.le(x, n)))
    text, checks = simplifications(t, list(t.decided), "")
    assert checks >= 8 and ask(text) == ["unsat"] * checks


@pytest.mark.parametrize(
    "entry",
    [
        lambda t, x, n: ("within", x, 0, 1022),
        lambda t, x, n: ("within", t.rem(x, n), 0, None),
        lambda t, x, n: ("not zero", t.sub(x, n)),
        lambda t, x, n: ("same sign", t.sub(x, t.one), x),
        lambda t, x, n: ("divided", x, t.const(2), t.quot(t.add(x, t.one), t.const(2)), t.rem(x, t.const(2))),
        lambda t, x, n: ("and", t.le(x, n), t.le(x, n), t.le(n, x)),
    ],
)
def test_wrong_simplification_is_contradicted(entry) -> None:  # type: ignore[no-untyped-def]
    t = Terms()
    x, n = t.app("x", (), 2, -5, 1023), t.app("n", (), 0, 1, 1 << 20)
    text, checks = simplifications(t, [entry(t, x, n)], "")
    assert checks == 1 and ask(text) == ["sat"]


def test_a_claim_without_what_it_needs_is_contradicted() -> None:
    t = Terms()
    i, n = t.app("i", (), 2, 0, 99), t.app("n", (), 0, 1, 100)
    assert ask(statement(t, [("path", t.lt(i, n))], t.le(i, t.sub(n, t.one)), "")) == ["unsat"]
    assert ask(statement(t, [], t.le(i, t.sub(n, t.one)), "")) == ["sat"]


def rows(t: Terms) -> tuple[list[tuple[str, object]], object, Bounds]:
    h, w, H, W = (t.app(n, (), 2, 0, None) for n in "hwHW")
    facts = [t.lt(w, W), t.lt(h, H)]
    goal = t.le(t.add(t.mul(h, W), w), t.sub(t.mul(H, W), t.one))
    bounds = Bounds(t, facts)
    assert bounds.prove(goal)
    return [("path", f) for f in facts], goal, bounds


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_steps_of_a_nonlinear_proof(solver: str) -> None:
    if solver == "cvc5":
        pytest.importorskip("cvc5")
    t = Terms()
    facts, goal, bounds = rows(t)
    made = steps(t, facts, goal, bounds.used, "")  # type: ignore[arg-type]
    assert made is not None and made[1] >= 2
    assert ask(made[0], solver) == ["unsat"] * made[1]


def test_a_wrong_step_is_contradicted() -> None:
    t = Terms()
    facts, goal, _ = rows(t)
    h, signed = t.app("h", (), 2, 0, None), t.app("s", (), 2)
    for wrong in (
        ("last", t.mul(h, signed), h),
        ("larger", h, t.mul(h, signed), signed, t.zero),
        ("factor", h, h, signed),
    ):
        made = steps(t, facts, goal, [wrong], "")  # type: ignore[arg-type]
        if wrong[0] == "last":
            assert made is not None and ask(made[0])[0] == "sat"
    assert steps(t, [], t.true, [], "") is None


def test_core_names_what_was_used() -> None:
    t = Terms()
    i, n = t.app("i", (), 2, 0, None), t.app("n", (), 0, 1, None)
    facts = [("path", t.lt(i, n)), ("contract", t.le(n, t.const(500)))]
    with Second("z3", 5.0) as second:
        reply = second.ask(statement(t, facts, t.lt(i, n), ""))
    used = [name.split(" ", 1)[1] for name in reply.core if name[0].isdigit()]
    assert used == ["path: (1 + i - n) <= 0"]


def test_names_of_a_submission_are_only_names() -> None:
    """Parameters named like our own definitions, or like a solver's functions, stay unknowns of their own."""
    t = Terms()
    x = t.app("x", (), 2, 0, 100)
    q, r = t.quot(x, t.const(7)), t.rem(x, t.const(7))
    names = [f"q{x.id}_{t.const(7).id}", f"%q{x.id}", f"n{q.id}", "want0", "mod", "div", "let", "quot", "f3"]
    own = [t.app(n, (), 0, 0, 1 << 20) for n in names]
    wrong = t.eq(own[0], q)
    with SolverPool() as pool:
        assert pool.check(script(t, [t.not_(wrong), t.le(r, own[1])], own), "i" * len(own)).status == "sat"
    for solver in ("z3", *(["cvc5"] if pytest.importorskip("importlib.util").find_spec("cvc5") else [])):
        text = statement(
            t, [("fact", t.le(a, t.const(9))) for a in own], t.or_(wrong, t.eq(own[4], q)), 'a "b\\'
        )
        assert ask(text, solver) == ["sat"]


@pytest.mark.parametrize(
    "text",
    [
        '(set-option :regular-output-channel "/tmp/x")(check-sat)',
        "(set-option :produce-models true)(check-sat)",
        "(check-sat)(exit)",
        "(get-info :name)",
        "(include |x|)",
        "(|set-option| :a b)",
        "(check-sat",
        "check-sat",
        "(assert true))(check-sat)",
        "(declare-fun |a\\| () Int)(check-sat)",
        "(assert |(check-sat)",
        "; fine\n(push 1)(pop 1) x",
    ],
)
def test_other_commands_are_refused(text: str) -> None:
    with pytest.raises(BadScript):
        check(text)


def test_solver_that_is_not_there() -> None:
    with pytest.raises(SolverMissing, match="no-such-solver"):
        Second("no-such-solver", 1.0)


def test_program_that_says_nothing_confirms_nothing() -> None:
    text = "(set-logic ALL)\n(assert false)\n(check-sat)\n"
    assert ask(text) == ["unsat"]
    assert ask(text, "true") == ["unknown"] and ask(text, "cat") == ["unknown"]


def test_program_that_hangs_is_stopped() -> None:
    with Second("yes", 0.1) as second:
        second_reply = second.ask("(set-logic ALL)\n(check-sat)\n")
    assert second_reply.results == ("unknown",)
