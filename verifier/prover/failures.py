"""What was not shown: the obligation with where it failed, the reason that is reported, the finding of a witness.

Failed obligation -> Reason and its sentence; obligation x witness -> Finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specs.results import Finding, Reason, Severity, Witness
from verifier.prover.discharge import Decision, Discharger
from verifier.prover.wording import fault_seen, why
from verifier.smt.terms import Term
from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Summary
from verifier.symex.symbols import pinned


@dataclass(frozen=True, slots=True)
class Failed:
    """An obligation that was not proved, with what decided so."""

    obligation: Obligation
    decision: Decision
    c: Claims
    d: Discharger


def reason_of(f: Failed) -> tuple[Reason, str]:
    """Why it is UNKNOWN."""
    why = f.decision.why
    if why.startswith("unsupported:"):
        return Reason.UNSUPPORTED, why.removeprefix("unsupported: ")
    if f.decision.killed:
        return Reason.RESOURCES, why
    if f.decision.status == "refutable":
        return Reason.NOT_REPRODUCED, "the solver has a model, but no run confirmed it"
    return Reason.BUDGET, f"the solver gave up ({why or 'no reason given'})"


def finding(o: Obligation, property_: str, w: Witness, kernel: str) -> Finding:
    """A refutation that a run confirmed."""
    return Finding(
        id=property_,
        severity=Severity.ERROR,
        span=o.span,
        message=fault_seen(o, w),
        kernel=kernel,
        witness=w,
        why=why(property_, w.threads),
        gate="prove",
    )


def pins(s: Summary, assignments: Iterable[Mapping[str, int]]) -> tuple[Mapping[Term, Term], ...]:
    """Assignments as substitutions of the summary's symbols."""
    return tuple(pinned(s.symbols, values, s.t) for values in assignments)
