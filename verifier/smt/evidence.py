"""What was proved, as SMT-LIB 2 for another solver: assumptions with names, and the claim negated (unsat: it holds).

Terms -> text. Invariant: only what the caller passes is assumed, and the ranges of unknowns. Quotients and remainders are
C's own operations here, not unknowns tied by our lemmas, so that another solver checks those lemmas too.

Example::

    statement(t, [("contract", t.le(t.one, n))], goal, "bounds-global line 5")   # "(set-logic ALL) … (check-sat)"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verifier.smt.bounds import Why
from verifier.smt.definitions import definition, interval, quotient_lemmas, raw_le0
from verifier.smt.smtlib import Lowering, integer
from verifier.smt.terms import Const, Term, Terms, atoms, show

_DIVISION = (
    "(define-fun %quot ((a Int) (b Int)) Int (ite (>= a 0) (div a b) (- (div (- a) b))))",
    "(define-fun %rem ((a Int) (b Int)) Int (ite (>= a 0) (mod a b) (- (mod (- a) b))))",
)
_THEORY = frozenset(
    "abs and as bvadd bvand bvnot bvor bvxor concat const distinct div divisible exp false forall exists iand int2bv"
    " is_int ite let log match mod not or par pi pow2 select sin cos sqrt store tan to_int to_real true xor".split()
)
"""Names that a solver has a meaning for."""
_SHOWN = 100
BATCH = 100
"""Simplifications in one file."""


class _Exact(Lowering):
    """Quotients and remainders by what they mean; no name of a submission is one of the solver's."""

    def _declare(self, name: str, args: int, sort: str) -> str:
        return super()._declare(f"%{name}" if name in _THEORY else name, args, sort)

    def _lower(self, term: Term) -> str:
        if term.op in ("quot", "rem"):
            a, b = (self.names[x] for x in term.args)
            return self._define(term, "Int", f"(%{term.op} {a} {b})")
        return super()._lower(term)


def statement(t: Terms, assumptions: Iterable[tuple[str, Term]], goal: Term, comment: str) -> str:
    """One claim. ``assumptions``: (kind, term); those that the meaning of division, min and max gives are left out."""
    given = {term: kind for kind, term in assumptions if term is not t.true}
    known = {fact for atom in atoms([*given, goal]) for fact in definition(t, atom)}
    given = {term: kind for term, kind in given.items() if term not in known}
    everything = atoms([*given, goal])
    low = _Exact()
    for term in everything:
        low.names[term] = low._lower(term)
    lines = low.lines
    for name, term in _ranges(t, everything):
        lines.append(_named(low, len(lines), "range", term, name))
    for term, kind in given.items():
        lines.append(_named(low, len(lines), kind, term))
    lines.append(f"(assert (! (not {low.add(goal)}) :named |negated claim|))")
    return _text(comment, lines, ["(check-sat)"])


def steps(
    t: Terms, assumptions: Iterable[tuple[str, Term]], goal: Term, used: Iterable[Why], comment: str
) -> tuple[str, int] | None:
    """The claim by way of the steps of its proof: each step holds for all values (a question each), then the claim.

    None where no step is more than linear.
    """
    given = {term: kind for kind, term in assumptions if term is not t.true}
    divisions = [
        x for x in atoms([*given, goal]) if x.op in ("quot", "rem") and not isinstance(x.args[1], Const)
    ]
    lemmas = [*used, *(("euclid", x, *x.args) for x in divisions)]
    lemmas += [("quotient", *found) for found in quotient_lemmas(t, [*given, goal])]
    if not lemmas:
        return None
    low = _Exact()
    everything = atoms([*given, goal, *(x for why in lemmas for x in why if isinstance(x, Term))])
    for term in everything:
        low.names[term] = low._lower(term)
    claims = dict.fromkeys(_step(t, low, why) for why in lemmas)
    ranges = [f"(assert {low.add(term)})" for _, term in _ranges(t, everything)]
    given_ = [f"(assert {low.add(term)})" for term in given]
    end = f"(assert (not {low.add(goal)}))"
    questions = [
        x for claim in claims for x in ("(push 1)", f"(assert (not {claim}))", "(check-sat)", "(pop 1)")
    ]
    rest = [*ranges, *given_, *(f"(assert {claim})" for claim in claims), end, "(check-sat)"]
    return _text(comment, [*low.lines, *questions], rest), len(claims) + 1


def _step(t: Terms, low: Lowering, why: Why) -> str:
    """A step of a proof as a formula that holds for all values."""
    kind, x, *more = (w for w in why if isinstance(w, str | Term))
    terms = [w for w in more if isinstance(w, Term)]
    assert isinstance(x, Term)

    def at_least(a: Term, least: int = 0) -> str:
        return f"(<= {least} {low.add(a)})"

    match kind:
        case "product":
            product = t.mul(x, t.product(terms))
            return _implies([f"(<= {low.add(x)} 0)", *map(at_least, terms)], f"(<= {low.add(product)} 0)")
        case "larger":
            less = next(iter(t.poly(x)))
            pairs = zip(terms[1::2], terms[2::2], strict=True)
            sizes = [*map(at_least, less), *(at_least(a, k.value) for a, k in pairs if isinstance(k, Const))]
            return _implies(sizes, f"(<= {low.add(x)} {low.add(terms[0])})")
        case "last":
            own = [f for a in dict.fromkeys(a for m in t.poly(x) for a in m) for f in interval(t, a)]
            return _implies([*map(at_least, terms), *map(low.add, own)], f"(<= {low.add(x)} 0)")
        case "digits":
            w, tx, ty = map(low.add, terms)
            small = [f"(= {low.add(x)} 0)", f"(< {ty} {w})", f"(< (- {ty}) {w})"]
            return _implies(small, f"(and (= {tx} 0) (= {ty} 0))")
        case "factor":
            w, rest = map(low.add, terms)
            return _implies([f"(= {low.add(x)} 0)", f"(<= 1 {w})"], f"(= {rest} 0)")
        case "euclid":
            a, b = terms
            q, r = (f"(%{op} {low.add(a)} {low.add(b)})" for op in ("quot", "rem"))
            whole = f"(= {low.add(a)} (+ (* {low.add(b)} {q}) {r}))"
            signs = f"(=> (<= 0 {low.add(a)}) (and (<= 0 {q}) (<= 0 {r}) (< {r} {low.add(b)})))"
            return f"(and (=> (not (= {low.add(b)} 0)) {whole}) (=> (<= 1 {low.add(b)}) {signs}))"
        case "quotient":
            f, quotient = terms
            a, b = quotient.args
            return _implies([low.add(f), at_least(a), at_least(b, 1)], low.add(x))
    raise AssertionError(kind)


def _implies(premises: Iterable[str], goal: str) -> str:
    return f"(=> (and true {' '.join(premises)}) {goal})"


def simplifications(t: Terms, entries: Sequence[tuple[object, ...]], comment: str) -> tuple[str, int]:
    """What intervals, digits and Boolean algebra decided while terms were built, each one a check of its own.

    The text, and how many checks are in it.
    """
    low, checks = _Exact(), []
    roots = [x for entry in entries for x in entry if isinstance(x, Term)]
    everything = atoms(roots)
    for term in everything:
        low.names[term] = low._lower(term)
    for entry in entries:
        claim = _claim(t, low, entry)
        if claim:
            checks += ["(push 1)", f"(assert (not {claim}))", "(check-sat)", "(pop 1)"]
    ranges = [f"(assert {low.add(term)})" for _, term in _ranges(t, everything)]
    return _text(comment, [*low.lines, *ranges], checks), len(checks) // 4


def _ranges(t: Terms, terms: Iterable[Term]) -> Iterable[tuple[str, Term]]:
    """The intervals of unknowns; those of everything else follow."""
    for x in terms:
        if x.op != "app":
            continue
        if x.lo is not None:
            yield f"{show(x)} >= {x.lo}", raw_le0(t, t.sub(t.const(x.lo), x))
        if x.hi is not None:
            yield f"{show(x)} <= {x.hi}", raw_le0(t, t.sub(x, t.const(x.hi)))


def _claim(t: Terms, low: Lowering, entry: tuple[object, ...]) -> str:
    """A simplification as a formula; "" for one without content."""
    kind = entry[0]
    if kind == "within" and isinstance(entry[1], Const):
        return ""
    if kind == "divided" and all(x.op in ("quot", "rem") and x.args == entry[1:3] for x in entry[3:]):  # type: ignore[attr-defined]
        return ""  # by its name
    terms = [low.add(x) for x in entry if isinstance(x, Term)]
    match kind:
        case "within":
            x, (lo, hi) = terms[0], entry[2:]
            parts = [f"(<= {integer(lo)} {x})" if isinstance(lo, int) else ""]
            parts += [f"(<= {x} {integer(hi)})" if isinstance(hi, int) else ""]
            return _all(parts)
        case "same sign":
            return f"(= (<= {terms[0]} 0) (<= {terms[1]} 0))"
        case "not zero":
            return f"(not (= {terms[0]} 0))"
        case "divided":
            a, b, q, r = terms
            return f"(=> (not (= {b} 0)) (and (= {q} (%quot {a} {b})) (= {r} (%rem {a} {b}))))"
        case "and" | "or":
            return f"(= {terms[0]} ({kind} {' '.join(terms[1:])}))"
    raise AssertionError(kind)


def _all(parts: Iterable[str]) -> str:
    used = [p for p in parts if p]
    return used[0] if len(used) == 1 else f"(and {' '.join(used)})" if used else ""


def _named(low: Lowering, number: int, kind: str, term: Term, text: str = "") -> str:
    body = low.add(term)
    label = _plain(f"{number} {kind}: {text or show(term)}")
    label = label if len(label) <= _SHOWN else label[: _SHOWN - 1] + "~"
    return f"(assert (! {body} :named |{label}|))"


def _plain(text: str) -> str:
    """Without what would end a name."""
    return "".join(c if " " <= c <= "~" and c not in '|\\"' else "?" for c in text)


def _text(comment: str, lines: Iterable[str], end: Iterable[str]) -> str:
    notes = [f"; {_plain(line)}" for line in comment.splitlines()]
    return "\n".join([*notes, "(set-logic ALL)", *_DIVISION, *lines, *end, ""])
