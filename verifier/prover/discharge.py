"""One obligation -> proved, refutable or unknown: polynomial bounds first, then Z3 within its budget.

Invariant: ``proved`` only if the facts and hypotheses imply the goal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from verifier.smt.bounds import Bounds
from verifier.smt.definitions import conjuncts
from verifier.smt.smtlib import gather, script
from verifier.smt.solver import SolverPool
from verifier.smt.terms import Const, Term, Terms, atoms
from verifier.symex.claims import Obligation, delinearise

_CONTRADICTIONS = 8
"""How many hypotheses are tried as the one that the others contradict."""
_REMAINDERS = 8
_CASES = 6
"""Ways to be in one interval that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """status: proved, refutable (a model exists) or unknown. ``killed``: cut off by wall time."""

    status: str
    why: str = ""
    killed: bool = False
    by: str = ""
    shown: Obligation | None = None
    """The obligation that was proved: the one asked for, or a stronger one."""
    steps: tuple[tuple[object, ...], ...] = ()
    """The nonlinear steps of the proof, see ``verifier.smt.evidence``."""


@dataclass(slots=True)
class Discharger:
    """Discharges obligations over one term store. ``keep`` is told (name, SMT-LIB text) of each solver query."""

    t: Terms
    pool: SolverPool
    keep: Callable[[str, str], None] | None = None
    small: Callable[[], tuple[Mapping[Term, Term], ...]] = tuple
    large: Callable[[], tuple[Mapping[Term, Term], ...]] = tuple
    """Symbol values to try before the general query: a fault that a few sizes show needs no search."""
    done: dict[tuple[object, ...], Decision] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def decide(self, o: Obligation, scale: float = 1.0, quick: bool = False) -> Decision:
        """The status of an obligation (equal ones are decided once). ``quick``: only a short search without the solver.

        Two threads are compared without what their paths depend on in data first: it rarely matters, and without it the
        iterations of a loop that was taken apart ask the same again.
        """
        with self.t.unrecorded():
            plain = without_data(self.t, o) if len(o.threads) == 2 else None
            if plain is not None:
                found = self._once(plain, scale, quick)
                if found.status == "proved":
                    return replace(found, shown=plain)
            return replace(self._once(o, scale, quick), shown=o)

    def by_bounds(self, o: Obligation) -> bool:
        """Whether no solver is needed for the claim."""
        with self.t.unrecorded():
            return Bounds(self.t, [*o.hyps, *o.facts]).prove(o.goal)

    def _once(self, o: Obligation, scale: float, quick: bool) -> Decision:
        key = (o.hyps, o.goal, frozenset(o.facts), scale, quick, o.note)
        found = self.done.get(key)
        if found is None:
            found = self.done[key] = self._decide(o, scale, quick)
            self.counts[found.by] = self.counts.get(found.by, 0) + 1
        return found

    def _decide(self, o: Obligation, scale: float, quick: bool) -> Decision:
        t = self.t
        if o.goal is t.true or t.and_(*o.hyps) is t.false:
            return Decision("proved", by="syntax")
        if o.note:
            return Decision("unknown", o.note)
        if len(o.threads) == 2 and not quick:
            o = aligned(t, o)
            if t.and_(*o.hyps) is t.false:
                return Decision("proved", by="syntax")
        bounds = Bounds(t, [*o.hyps, *o.facts], quick)
        if bounds.prove(o.goal):
            return Decision("proved", by="bounds", steps=tuple(bounds.used))
        if quick:
            return Decision("unknown", "not shown by bounds", by="bounds")
        derived: list[Term] = []
        steps: dict[tuple[object, ...], None] = {}
        if len(o.threads) == 2:
            derived += remainders(t, o, bounds)
            if derived:
                bounds = Bounds(t, [*derived, *o.hyps, *o.facts])
            for h in o.hyps:
                if h.op == "eq0":
                    derived += delinearise(t, h.args[0], bounds, steps)  # type: ignore[arg-type]
            if derived:
                again = Bounds(t, [*derived, *o.hyps, *o.facts])
                if again.prove(o.goal):
                    return Decision("proved", by="bounds", steps=(*bounds.used, *steps, *again.used))
        used = (*bounds.used, *steps)
        if o.property == "coverage" and scale:
            if o.goal.op == "and":
                return self._parts(o, scale)
            if not bounds.linear and self._ask(linear_part(t, o), [], 0.3 * scale).status == "proved":
                return Decision("proved", by="z3")
        if bounds.linear and scale and (made := self._ask(o, derived, 0.3 * scale)).status != "unknown":
            return replace(made, steps=used)
        if o.goal is t.false:
            ordered = [h for h in conjuncts((*o.hyps, *derived)) if h.op == "le0"]
            if any(bounds.prove(t.not_(h)) for h in ordered[:_CONTRADICTIONS]):
                return Decision("proved", by="bounds", steps=tuple(bounds.used))
        assertions = [*o.facts, *o.hyps, *derived, t.not_(o.goal)]
        pins = self.large if o.property in ("overflow", "arithmetic", "lemma") else self.small
        if any(self._fails_at(assertions, pin) for pin in pins()[:3]):
            return Decision("refutable", by="sizes")
        if scale == 0:
            return Decision("unknown", "not shown by bounds", by="bounds")
        whole = replace(self._ask(o, derived, scale), steps=used)
        if whole.status == "unknown" and (cases := by_interval(t, o)):
            found = [self._once(case, scale, False) for case in cases]
            if all(d.status == "proved" for d in found):
                return Decision("proved", by="z3", steps=tuple(s for d in found for s in d.steps))
        return whole

    def _parts(self, o: Obligation, scale: float) -> Decision:
        """Conjunct by conjunct, until one is not shown."""
        steps: dict[tuple[object, ...], None] = {}
        by = "bounds"
        for part in o.goal.args:
            found = self._once(replace(o, goal=part), scale, False)
            if found.status != "proved":
                return found
            steps |= dict.fromkeys(found.steps)
            by = found.by if found.by == "z3" else by
        return Decision("proved", by=by, steps=tuple(steps))

    def _ask(self, o: Obligation, derived: list[Term], scale: float) -> Decision:
        """The solver's answer to the whole obligation."""
        t = self.t
        assertions = [*o.facts, *o.hyps, *derived, t.not_(o.goal)]
        facts = gather(t, assertions, {})
        text = script(
            t, [*facts, *assertions], comment=f"{o.property} {o.span}\n{o.claim}\nunsat means proved"
        )
        answer = self.pool.check(text, scale=scale)
        if self.keep is not None and answer.status == "unsat":
            self.keep(f"{o.property}-{o.span.line}", text)
        match answer.status:
            case "unsat":
                return Decision("proved", by="z3")
            case "sat":
                return Decision("refutable", by="z3")
            case _:
                return Decision("unknown", answer.why or answer.status, answer.killed, "z3")

    def _fails_at(self, assertions: list[Term], pin: Mapping[Term, Term]) -> bool:
        """Whether the negated obligation has a model with these symbol values (a query that is mostly linear)."""
        t = self.t
        memo: dict[Term, Term] = {}
        pinned = [t.rebuild(a, pin.get, memo) for a in assertions]
        if t.false in pinned:
            return False
        facts = gather(t, pinned, {})
        return self.pool.check(script(t, [*facts, *pinned]), scale=0.1).status == "sat"


def aligned(t: Terms, o: Obligation) -> Obligation:
    """The same claim about two threads with one name for a round of a loop that both are in.

    Sound: equals are put for equals that a hypothesis names.
    """
    same: dict[Term, Term] = {}
    for h in conjuncts(o.hyps):
        poly = t.poly(h.args[0]) if h.op == "eq0" else {}
        symbols = [m[0] for m in poly if len(m) == 1 and m[0].op == "app" and not m[0].args]
        if len(poly) == len(symbols) == 2 and sum(poly.values()) == 0:
            first, second = sorted(symbols, key=lambda x: x.name)
            if (
                first.name.endswith("!1")
                and second.name == first.name[:-1] + "2"
                and first.name.startswith("k@")
            ):
                same[second] = first
    if not same:
        return o
    memo: dict[Term, Term] = {}

    def put(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(dict.fromkeys(t.rebuild(x, same.get, memo) for x in terms))

    return replace(
        o, hyps=put(o.hyps), facts=put(o.facts), lemmas=put(o.lemmas), goal=t.rebuild(o.goal, same.get, memo)
    )


def remainders(t: Terms, o: Obligation, bounds: Bounds) -> list[Term]:
    """What remainders by numbers that are shown to be positive are, in the equations between the two threads."""
    equations = [h for h in o.hyps if h.op == "eq0"]
    found = [x for x in atoms(equations) if x.op == "rem" and x.level and not isinstance(x.args[1], Const)]
    made: list[Term] = []
    for r in found[:_REMAINDERS]:
        top, bottom = r.args
        if top.lo is not None and top.lo >= 0 and _positive(t, bottom, bounds):
            whole = t.add(t.mul(bottom, t.quot(top, bottom)), r)
            made += [t.le(t.one, bottom), t.le(t.zero, r), t.lt(r, bottom), t.eq(top, whole)]
    return [m for m in made if m is not t.true]


def _positive(t: Terms, x: Term, bounds: Bounds) -> bool:
    """Whether x is at least 1; a quotient is where the dividend is at least the divisor."""
    if bounds.prove(t.le(t.one, x)):
        return True
    if x.op != "quot" or x.args[1].lo is None or x.args[1].lo < 1:
        return False
    return bounds.prove(t.le(x.args[1], x.args[0]))


def by_interval(t: Terms, o: Obligation) -> list[Obligation]:
    """The claim for each way in which two threads can be in one barrier interval, if there are a few."""
    for h in o.hyps:
        if len(o.threads) == 2 and h.op == "or" and 2 <= len(h.args) <= _CASES:
            cases = [replace(o, hyps=tuple(part if x is h else x for x in o.hyps)) for part in h.args]
            if any(aligned(t, case) is not case for case in cases):
                return cases
    return []


def linear_part(t: Terms, o: Obligation) -> Obligation:
    """A stronger obligation without products: hypotheses and facts that have one are left out, and a quotient or remainder
    by something that is no constant is any value of its interval."""
    memo: dict[Term, Term] = {}

    def free(x: Term) -> Term | None:
        if x.op not in ("quot", "rem") or isinstance(x.args[1], Const):
            return None
        return t.app(f"any:{x.op}{x.id}", (), x.level, x.lo, x.hi)

    def linear(f: Term) -> bool:
        return all(len(m) <= 1 for a in atoms([f]) if not a.is_bool for m in t.poly(a))

    hyps, facts = ([t.rebuild(x, free, memo) for x in given] for given in (o.hyps, o.facts))
    goal = t.rebuild(o.goal, free, memo)
    return replace(o, hyps=tuple(filter(linear, hyps)), facts=tuple(filter(linear, facts)), goal=goal)


def without_data(t: Terms, o: Obligation) -> Obligation | None:
    """A stronger obligation without the hypotheses on floating-point data and the facts about what only they mention.

    None where there are no such hypotheses. Sound: hypotheses are only left out.
    """
    parts = list(conjuncts(o.hyps))
    kept = [h for h in parts if not any(a.op == "float" for a in atoms([h]))]
    if len(kept) == len(parts):
        return None
    known = dict(atoms([*kept, o.goal]))
    for a in [a for a in known if a.op in ("quot", "rem")]:
        known |= dict.fromkeys((t.quot(*a.args), t.rem(*a.args)))
    facts = [
        f
        for f in o.facts
        if all(a in known or a.level == 0 or a.is_bool or a.op == "poly" for a in atoms([f]))
    ]
    lemmas = tuple(x for x in o.lemmas if x in facts)
    return replace(o, hyps=tuple(kept), facts=tuple(facts), lemmas=lemmas)
