"""What the prover is asked for one launch, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from specs.contract import Clause
from specs.location import Span
from specs.results import Finding, PropertyResult, Witness
from verifier.prover.evidence import Evidence
from verifier.smt.solver import SolverPool

Replay = Callable[[Witness, str, Span], Witness | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """``replay`` confirms a witness (None: nothing can be refuted). ``assignments``: small symbol values to try, made
    when they are needed."""

    pool: SolverPool
    properties: tuple[str, ...]
    cap: int
    assignments: Callable[[], tuple[Mapping[str, int], ...]] = tuple
    replay: Replay | None = None
    keep: Callable[[str, str], None] | None = None
    deadline: float = float("inf")
    max_witnesses: int = 4
    pure_externs: bool = False
    same_value: bool = False
    """Whether two threads may store equal values to one place (the policy's ``benign-same-value``)."""
    evidence: bool = False
    """Whether what is proved is kept for another solver."""
    explain: bool = True
    """Whether faults, missing clauses and safe sizes are looked for; else proofs alone."""


@dataclass(frozen=True, slots=True)
class KernelVerdicts:
    """The verdicts, the findings behind the refutations, and what was assumed or approximated."""

    properties: tuple[PropertyResult, ...]
    findings: tuple[Finding, ...]
    approximations: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    clauses: tuple[Clause, ...] = ()
    """Size relations that a proof needs and nothing checks: ``derived`` ones hold at the problem's sizes and were used
    (and are printed as assumptions), ``assumed`` ones are only proposed."""
    assumptions: tuple[Clause, ...] = ()
    """What proofs rest on besides the contract's own assumptions."""
    evidence: Evidence = field(default_factory=Evidence)
