"""Sizes that divide each other, where proofs fail without it: Summary -> ``c % groups == 0``, and what holds under it.

A kernel that works on rows of ``C / NH`` elements is right where NH divides C, and few claims of it hold elsewhere; so
no single claim shows that this is what they all lack. The clauses are guessed from the quotients and remainders of sizes
that host code and kernel compute, and from accesses of several elements at once, and tried all together. Invariant: no
clause is given that the problem's own sizes contradict; a refutation stays what it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from specs.clauses import ClauseError, ClauseUndefined, evaluate, names
from specs.contract import Clause
from specs.results import Finding, PropertyResult, Reason, Verdict
from verifier.prover.clause_texts import text_of
from verifier.smt.terms import Term, atoms
from verifier.symex.memory_claims import alignment_of
from verifier.symex.summary import Summary
from verifier.symex.symbols import texts

MOST = 6


_SHOWN = (Verdict.PROVED, Verdict.NOT_APPLICABLE)
_HOPELESS = (Reason.UNSUPPORTED, Reason.NOT_ACCEPTED, Reason.VACUOUS)


class Verdicts(Protocol):
    """What is used of ``engine.KernelVerdicts``."""

    @property
    def properties(self) -> tuple[PropertyResult, ...]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


def is_open(verdicts: Verdicts) -> bool:
    """Whether a clause could still help."""
    unknown = [p for p in verdicts.properties if p.verdict is Verdict.UNKNOWN and not p.safe_for]
    return bool(unknown) and not any(p.reason in _HOPELESS for p in unknown)


def vouched(guesses: Iterable[str], values: Mapping[str, int]) -> list[str]:
    """Those that the problem's sizes satisfy."""
    return [text for text in guesses if names(text) <= set(values)]


def better(old: Verdicts, new: Verdicts) -> bool:
    """Whether more is shown, and nothing less."""
    then = {p.id: p.verdict for p in new.properties}
    lost = any(p.verdict in _SHOWN and then.get(p.id) not in _SHOWN for p in old.properties)
    gained = any(p.verdict is Verdict.UNKNOWN and then.get(p.id) in _SHOWN for p in old.properties)
    return gained and not lost


def merged(old: Verdicts, new: Verdicts) -> tuple[tuple[PropertyResult, ...], tuple[Finding, ...]]:
    """The new verdicts, but for what was refuted without the clauses."""
    then = {p.id: p for p in new.properties}
    refuted = {p.id for p in old.properties if p.verdict is Verdict.REFUTED}
    properties = tuple(p if p.id in refuted else then.get(p.id, p) for p in old.properties)
    findings = (
        *(f for f in old.findings if f.id in refuted),
        *(f for f in new.findings if f.id not in refuted),
    )
    return properties, findings


def needed(
    clauses: Mapping[str, Clause],
    aim: Verdicts,
    shown: Callable[[Iterable[Clause], float], Verdicts],
    deadline: float,
) -> dict[str, Clause]:
    """The clauses without those that nothing is lost without, as far as time allows."""
    wanted = {p.id for p in aim.properties if p.verdict in _SHOWN}
    kept = dict(clauses)
    for text in clauses if len(clauses) > 1 else ():
        if time.monotonic() > deadline:
            break
        others = {t: c for t, c in kept.items() if t != text}
        verdicts = shown(others.values(), deadline).properties
        if wanted <= {p.id for p in verdicts if p.verdict in _SHOWN}:
            kept = others
    return kept


def told(old: Iterable[PropertyResult], new: Verdicts, clauses: Iterable[str]) -> tuple[PropertyResult, ...]:
    """The old verdicts; what is PROVED under the clauses says so."""
    then = {p.id: p.verdict for p in new.properties}
    under = " and ".join(clauses)
    return tuple(
        replace(p, safe_for=under)
        if p.verdict is Verdict.UNKNOWN and not p.safe_for and then.get(p.id) in _SHOWN
        else p
        for p in old
    )


def divisibilities(s: Summary, values: Mapping[str, int]) -> list[str]:
    """Clauses that nothing says yet and that ``values`` do not contradict, likely ones first."""
    symbol_of = texts(s.symbols)
    known = {c.text for c in s.contract.requires}
    found: dict[str, None] = {}
    for top, bottom in _divisions(s):
        divisor = text_of(bottom, symbol_of)
        for factor in reversed(_factors(s, top)):
            name = symbol_of.get(factor)
            if name is None or divisor is None or not name.isidentifier():
                continue
            text = f"{name} % {divisor if divisor.isalnum() else f'({divisor})'} == 0"
            if _may_hold(text, values):
                found |= {} if text in known else {text: None}
                break
    divided = {text.split(" ")[0] for text in found}
    for atom, number in _rows(s):
        name = symbol_of.get(atom, "")
        text = f"{name} % {number} == 0"
        if name.isidentifier() and name not in divided and _may_hold(text, values):
            divided.add(name)
            found |= {} if text in known else {text: None}
    return list(found)[:MOST]


def _may_hold(text: str, values: Mapping[str, int]) -> bool:
    try:
        return not names(text) <= set(values) or bool(evaluate(text, values))
    except (ClauseError, ClauseUndefined):
        return False


def _factors(s: Summary, term: Term) -> list[Term]:
    """The factors of a product."""
    poly = s.t.poly(term)
    return list(next(iter(poly))) if len(poly) == 1 else []


def _divisions(s: Summary) -> Iterator[tuple[Term, Term]]:
    """(dividend, divisor) of what is computed from sizes alone."""
    roots = [
        *(o.extent for o in s.objects.values() if o.extent is not None),
        *s.scalars.values(),
        *s.raw_grid,
        *s.raw_block,
        *(what for what, _ in s.definitions.values()),
        *(x for a in s.accesses for x in (a.offset, a.guard)),
        *(x for a in s.asserts for x in a[:2]),
    ]
    for x in atoms(roots):
        if x.op in ("quot", "rem") and x.level == 0:
            yield x.args[0], x.args[1]


def _rows(s: Summary) -> Iterator[tuple[Term, int]]:
    """Sizes beside accesses of several elements at once, which rows of them have to hold a whole number of."""
    for access in s.accesses:
        if access.obj.buffer is None:
            continue
        lanes = alignment_of(access) // max(access.obj.elem, 1)
        if lanes > 1:
            extent = () if access.obj.extent is None else (access.obj.extent,)
            yield from ((a, lanes) for a in atoms([access.offset, access.guard, *extent]) if a.level == 0)
