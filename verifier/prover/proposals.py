"""Verdicts where a clause is missing: what the launch is worth once the host code makes the missing checks.

Bare verdicts x missing clauses -> verdicts. A fault that the missing clauses remove is a missing contract, not a fault;
one that meets them all, or the problem's own sizes, stands. Invariant: nothing becomes PROVED by a proposed clause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from specs.clauses import ClauseError, ClauseUndefined, evaluate
from specs.contract import Clause
from specs.results import Finding, PropertyResult, Reason, Verdict, Witness
from verifier.prover.given import bounds, of_memory
from verifier.prover.missing import Missing

ROUNDS = 3
_SHOWN = (Verdict.PROVED, Verdict.NOT_APPLICABLE)


class Verdicts(Protocol):
    """What is used of ``engine.KernelVerdicts``."""

    @property
    def properties(self) -> tuple[PropertyResult, ...]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


def settle(
    bare: Verdicts,
    proposed: dict[str, Missing],
    again: Callable[[Iterable[Clause]], tuple[Verdicts, Sequence[Missing]]],
    deadline: float,
) -> tuple[tuple[PropertyResult, ...], tuple[Finding, ...]]:
    """Properties and findings. ``again`` verifies under clauses; ``proposed`` grows by what turns out missing besides."""
    under = bare
    for _ in range(ROUNDS):
        if time.monotonic() > deadline:
            return bare.properties, bare.findings
        known = set(proposed)
        under, missing = again(Clause(text, "assumed") for text in proposed)
        if all(
            p.reason is Reason.VACUOUS for p in under.properties
        ):  # no launch meets them: they explain nothing
            return bare.properties, bare.findings
        proposed |= {m.clause: m for m in missing if m.clause and not m.derived and m.clause not in proposed}
        if known == set(proposed):
            break
    then = {p.id: p for p in under.properties}
    needs = " and ".join(proposed)
    detail = f"needs {needs}, which nothing checks; add the clause or a host check"
    if len(proposed) == 1:
        detail = next(iter(proposed.values())).sentence
    properties: list[PropertyResult] = []
    findings: list[Finding] = []
    for p in bare.properties:
        later = then.get(p.id, p)
        standing = [f for f in bare.findings if f.id == p.id and _stands(f.witness, proposed)]
        if p.verdict in _SHOWN:
            properties.append(p)
        elif standing:
            properties.append(p)
            findings += standing
        elif later.verdict in _SHOWN:
            unknown = replace(p, verdict=Verdict.UNKNOWN, reason=Reason.MISSING_CONTRACT, detail=detail)
            properties.append(replace(unknown, proved=later.proved, safe_for=needs))
        elif Verdict.REFUTED in (later.verdict, p.verdict):
            properties.append(later)
            findings += [f for f in under.findings if f.id == p.id]
        else:
            properties.append(p)
    return tuple(properties), tuple(findings)


def _stands(witness: Witness | None, proposed: Iterable[str]) -> bool:
    """Whether a fault is one at the problem's own sizes, or at sizes that meet every missing clause."""
    if witness is None or witness.domain == "problem":
        return witness is not None
    try:
        return all(_meets(witness, text) for text in proposed)
    except (ClauseError, ClauseUndefined):
        return False


def _meets(witness: Witness, text: str) -> bool:
    """Whether the witness is a launch that keeps the clause; its buffers are apart and aligned, as the simulator's are."""
    match of_memory(text):
        case ("content", buffer, rest):
            low, high = (evaluate(end, witness.symbols) for end in bounds(rest))
            return all(low <= value <= high for value in witness.data.get(buffer, {}).values())
        case None:
            return bool(evaluate(text, witness.symbols))
        case _:
            return True
