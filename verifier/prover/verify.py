"""All verdicts on one launch, under the clauses that it turns out to need. Kernel x Contract -> KernelVerdicts.

What fails for want of a clause is verified again under it. A clause that the problem's own sizes satisfy is used, and told
as an assumption; one that nobody vouches for is only told, with what is PROVED under it (``safe_for``). Invariant: PROVED
rests on the contract and on clauses that the problem's sizes satisfy, and on nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from specs.contract import Clause, Contract
from specs.results import PropertyResult, Verdict
from verifier.ir.nodes import Kernel
from verifier.prover import divisible
from verifier.prover.engine import Engine, KernelVerdicts, Settings
from verifier.prover.frontier import bounded
from verifier.prover.given import given
from verifier.prover.missing import Missing
from verifier.prover.proposals import settle

_NOTE = "taken from the problem's sizes; nothing checks it"


@dataclass(slots=True)
class _Case:
    """``used``: clauses that the problem's sizes satisfy."""

    kernel: Kernel
    contract: Contract
    settings: Settings
    used: dict[str, Clause] = field(default_factory=dict)

    def engine(self, clauses: Iterable[Clause] = (), hurry: bool = False) -> Engine:
        under = given(self.contract, [*self.used.values(), *clauses])
        return Engine(self.kernel, under, self.settings, hurry=hurry)

    def proofs(
        self, clauses: Iterable[Clause], until: float, wanted: Iterable[str] | None = None
    ) -> KernelVerdicts:
        """Without looking for faults and clauses."""
        asked = self.settings.properties
        if wanted is not None:
            asked = tuple(p for p in asked if p in {*wanted, "barrier-divergence"})
        alone = replace(
            self.settings, properties=asked, explain=False, evidence=False, keep=None, deadline=until
        )
        return Engine(self.kernel, given(self.contract, [*self.used.values(), *clauses]), alone).run()

    def clause(self, text: str, origin: str = "derived") -> Clause:
        fix = f'TORCH_CHECK({text}, "sizes must match");'
        span = self.contract.launch.span
        return (
            Clause(text, "derived", span, _NOTE, fix=fix)
            if origin == "derived"
            else Clause(text, "assumed", span)
        )


def verify(kernel: Kernel, contract: Contract, settings: Settings) -> KernelVerdicts:
    """Every requested property's verdict."""
    case = _Case(kernel, contract, settings)
    engine = case.engine(hurry=True)
    result = engine.run()
    for left in reversed(range(8)):
        new = {m.clause for m in engine.missing if m.derived} - set(case.used)
        if not new or time.monotonic() > settings.deadline:
            break
        case.used |= {m.clause: case.clause(m.clause) for m in engine.missing if m.clause in new}
        engine = case.engine(hurry=left > 0)
        result = engine.run()
    engine, result, guesses = _divided(case, engine, result)
    proposed = {m.clause: m for m in engine.missing if m.clause and m.clause not in case.used}
    if proposed:

        def again(clauses: Iterable[Clause]) -> tuple[KernelVerdicts, list[Missing]]:
            asked = case.engine(clauses)
            return asked.run(), asked.missing

        properties, findings = settle(result, proposed, again, settings.deadline)
        result = replace(result, properties=properties, findings=findings)
    result = _divided_perhaps(case, result, list(proposed), guesses)

    def probe(clauses: Iterable[Clause], wanted: Iterable[str], until: float) -> tuple[PropertyResult, ...]:
        return case.proofs(clauses, until, wanted).properties

    known = given(contract, case.used.values())
    properties = bounded(result, known, settings.cap, proposed, probe, settings.deadline)
    clauses = [
        *case.used.values(),
        *(Clause(text, "assumed", contract.launch.span, m.sentence) for text, m in proposed.items()),
    ]
    return replace(result, properties=properties, clauses=tuple(clauses))


def _divided(case: _Case, engine: Engine, result: KernelVerdicts) -> tuple[Engine, KernelVerdicts, list[str]]:
    """Verified again where sizes divide each other as the problem's do, if that leaves nothing open; and what is left to try."""
    if not divisible.is_open(result):
        return engine, result, []
    values = {s.name: s.value for s in case.contract.symbols if s.value is not None}
    left = [g for g in engine.guesses if g not in case.used]
    sure = {g: case.clause(g) for g in divisible.vouched(left, values)}
    if not sure or time.monotonic() > case.settings.deadline:
        return engine, result, left
    then = case.engine(sure.values())
    made = then.run()
    properties, findings = divisible.merged(result, made)
    if not divisible.better(result, made) or any(p.verdict is Verdict.UNKNOWN for p in properties):
        return engine, result, left
    if not case.settings.evidence:  # which is kept of the run that is told
        sure = divisible.needed(sure, made, case.proofs, case.settings.deadline)
    case.used |= sure
    return then, replace(made, properties=properties, findings=findings), [g for g in left if g not in sure]


def _divided_perhaps(
    case: _Case, result: KernelVerdicts, proposed: list[str], guesses: list[str]
) -> KernelVerdicts:
    """What is PROVED where sizes divide each other, and the clauses that are missing anyway hold: told, never used."""
    late = time.monotonic() > case.settings.deadline
    if late or not guesses or not divisible.is_open(result):
        return result
    missing = [case.clause(text, "assumed") for text in proposed]

    def shown(clauses: Iterable[Clause], until: float) -> KernelVerdicts:
        return case.proofs([*missing, *clauses], until)

    clauses = {g: case.clause(g, "assumed") for g in guesses}
    made = shown(clauses.values(), case.settings.deadline)
    if not divisible.better(result, made):
        return result
    texts = [*proposed, *divisible.needed(clauses, made, shown, case.settings.deadline)]
    return replace(result, properties=divisible.told(result.properties, made, texts))


__all__ = ["KernelVerdicts", "Settings", "verify"]
