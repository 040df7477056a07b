"""One obligation -> proved, refutable or unknown: polynomial bounds first, then Z3 within its budget.

Invariant: ``proved`` only if the facts and hypotheses imply the goal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from verifier.smt.bounds import Bounds
from verifier.smt.smtlib import gather, script
from verifier.smt.solver import SolverPool
from verifier.smt.terms import Term, Terms
from verifier.symex.claims import Obligation, delinearise


@dataclass(frozen=True, slots=True)
class Decision:
    """status: proved, refutable (a model exists) or unknown. ``killed``: cut off by wall time."""

    status: str
    why: str = ""
    killed: bool = False
    by: str = ""


@dataclass(slots=True)
class Discharger:
    """Discharges obligations over one term store. ``keep`` is told (name, SMT-LIB text) of each solver query."""

    t: Terms
    pool: SolverPool
    keep: Callable[[str, str], None] | None = None
    done: dict[tuple[object, ...], Decision] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def decide(self, o: Obligation, scale: float = 1.0) -> Decision:
        """The status of an obligation (equal ones are decided once)."""
        key = (o.hyps, o.goal, frozenset(o.facts), scale)
        found = self.done.get(key)
        if found is None:
            found = self.done[key] = self._decide(o, scale)
            self.counts[found.by] = self.counts.get(found.by, 0) + 1
        return found

    def _decide(self, o: Obligation, scale: float) -> Decision:
        t = self.t
        if o.goal is t.true or t.and_(*o.hyps) is t.false:
            return Decision("proved", by="syntax")
        if o.note:
            return Decision("unknown", o.note)
        bounds = Bounds(t, [*o.hyps, *o.facts])
        if bounds.prove(o.goal):
            return Decision("proved", by="bounds")
        derived: list[Term] = []
        if len(o.threads) == 2:
            for h in o.hyps:
                if h.op == "eq0":
                    derived += delinearise(t, h.args[0], bounds)  # type: ignore[arg-type]
            if derived:
                again = Bounds(t, [*derived, *o.hyps, *o.facts])
                if again.prove(o.goal):
                    return Decision("proved", by="bounds")
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
