"""Proved obligations as SMT-LIB statements for another solver, however they were discharged.

Shown obligations -> statements. Three kinds: ``claim``, one for each proved obligation; ``size``, for each lower bound of a
size that an empty grid would contradict; ``simplification``, what intervals, digits and Boolean algebra decided while
terms were built, so that an obligation that was true as soon as it was stated has been checked as well.

Invariant: a statement assumes preconditions, path conditions, the meaning of loads and loops, and ranges of unknowns,
each by name; no lemma of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from specs.contract import Contract
from specs.location import Span
from verifier.smt.bounds import Why
from verifier.smt.evidence import BATCH, simplifications, statement, steps
from verifier.smt.terms import Term, Terms, atoms
from verifier.symex.claims import Claims, Obligation


@dataclass(frozen=True, slots=True)
class Statement:
    """``text`` is an SMT-LIB script of ``checks`` questions; unsat everywhere means that the claim holds.

    ``by``: what discharged it (syntax, bounds, z3). ``property``: "lemma" for what others rest on.
    """

    kind: str
    property: str
    line: int
    claim: str
    by: str
    text: str
    checks: int = 1
    steps: tuple[str, int] | None = None
    """Where the proof is more than linear: a script that goes through its steps, and how many questions it asks."""


@dataclass(slots=True)
class Evidence:
    """What one execution of a kernel proved."""

    shown: list[tuple[Claims, Obligation, str, tuple[Why, ...]]] = field(default_factory=list)
    sizes: list[tuple[Claims, dict[str, int]]] = field(default_factory=list)
    stores: list[Terms] = field(default_factory=list)

    def add(self, c: Claims, o: Obligation, by: str, steps: tuple[Why, ...]) -> None:
        """An obligation that a verdict rests on."""
        self.shown.append((c, o, by, steps))

    def statements(self, contract: Contract) -> Iterator[Statement]:
        """Each once, claims first."""
        seen: set[tuple[object, ...]] = set()
        for c, o, by, why in self.shown:
            key = (o.hyps, o.goal, frozenset(o.facts))
            if key not in seen:
                seen.add(key)
                yield _claim(c, o, by, why)
        for c, least in self.sizes:
            yield from _sizes(c, least, contract.launch.span)
        for t in self.stores:
            yield from _simplified(t)


def _claim(c: Claims, o: Obligation, by: str, why: tuple[Why, ...]) -> Statement:
    lemmas, given = set(o.lemmas), set(c.s.requires)
    facts = [(("contract" if f in given else "fact"), f) for f in o.facts if f not in lemmas]
    facts += [("path", h) for h in o.hyps]
    comment = f"{o.property} {o.span}\n{o.claim}\nunsat: it holds"
    text = statement(c.s.t, facts, o.goal, comment)
    found = steps(c.s.t, facts, o.goal, why, comment)
    return Statement("claim", o.property, o.span.line, o.claim, by, text, steps=found)


def _sizes(c: Claims, least: Mapping[str, int], span: Span) -> Iterator[Statement]:
    """Where a thread runs no axis is empty; so the sizes that the axes are computed from are at least this."""
    t = c.s.t
    axes = [*c.s.raw_grid, *c.s.raw_block]
    named: dict[str, Term] = {x.name: x for x in atoms([*axes, *c.s.symbols.values()]) if x.op == "app"}
    hyps = [("path", t.le(t.one, x)) for x in axes]
    for name, value in least.items():
        if name not in named or (named[name].lo or 0) >= value:
            continue
        goal = t.le(t.const(value), named[name])
        facts = [("contract", r) for r in c.base()] + [("fact", f) for f in c.facts_for((*axes, named[name]))]
        claim = f"{name} >= {value} where the launch is not empty"
        yield Statement(
            "size", "launch", span.line, claim, "bounds", statement(t, [*facts, *hyps], goal, f"{span}\n{claim}")
        )  # fmt: skip


def _simplified(t: Terms) -> Iterator[Statement]:
    entries = list(t.decided)
    for start in range(0, len(entries), BATCH):
        text, checks = simplifications(
            t, entries[start : start + BATCH], "simplifications\nunsat: each holds"
        )
        if checks:
            yield Statement("simplification", "lemma", 0, "simplifications of terms", "syntax", text, checks)
