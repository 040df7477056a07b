"""What was found: the one verdict type and the report's data. JSON shape: docs/reference/report.md.

Invariant: the default of everything is UNKNOWN / NOT_RUN; nothing unknown is ever green.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from specs.contract import Clause, Contract
from specs.location import NOWHERE, Span


class Verdict(StrEnum):
    """Of one property of one kernel launch."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    """Only where the kernel has no construct of the kind."""


class Reason(StrEnum):
    """Why a verdict is UNKNOWN (closed list)."""

    BUDGET = "budget"
    RESOURCES = "resources"
    UNSUPPORTED = "unsupported construct"
    MISSING_CONTRACT = "missing contract"
    NOT_ACCEPTED = "contract not accepted"
    APPROXIMATION = "approximation"
    DEPENDS = "depends on another property"
    DIVERGENCE = "divergence"
    NOT_REPRODUCED = "not reproduced"
    VACUOUS = "vacuous"


class Outcome(StrEnum):
    """Of a gate, and of a file (files use PASS, FAIL, INCONCLUSIVE, ERROR)."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_RUN = "NOT_RUN"
    ERROR = "ERROR"


class Severity(StrEnum):
    """ERROR: unsafe, fails the gate. WARNING: edge domain or host check missing. NOTE: a lint, never decides."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class ThreadAccess:
    """One of the (at most two) threads of a witness and what it does there."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    action: str
    """In words: ``writes y[1024]``, ``waits at __syncthreads``."""
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Witness:
    """A concrete launch that shows the fault."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    symbols: dict[str, int]
    scalars: dict[str, int | float | None]
    buffers: dict[str, int]
    """Parameter -> number of elements."""
    threads: tuple[ThreadAccess, ...]
    data: dict[str, dict[int, int]] = field(default_factory=dict)
    """Parameter -> element index -> value, where integer contents matter."""
    replayed: bool = False
    replayed_by: str = "the simulator"
    domain: str = "general"
    """problem | general | edge"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell the user. ``id`` is a property id, a static rule id or a cheat id."""

    id: str
    severity: Severity
    span: Span
    message: str
    kernel: str = ""
    witness: Witness | None = None
    why: str = ""
    """Why it is wrong, in a sentence."""
    fix: str = ""
    related: tuple[tuple[Span, str], ...] = ()
    gate: str = ""


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The verdict on one property of one kernel launch."""

    id: str
    verdict: Verdict = Verdict.UNKNOWN
    reason: Reason | None = None
    detail: str = ""
    """For UNKNOWN: construct, line, and what would decide it, in one sentence."""
    obligations: int = 0
    proved: int = 0
    seconds: float = 0.0
    frontier: int | None = None
    """Elements of every buffer up to which it is PROVED, where that is the bound of ``safe_for``."""
    safe_for: str = ""
    """For which sizes it is PROVED although not for all: the missing precondition, as a clause."""
    depends: tuple[str, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class KernelResult:
    """All verdicts on one launch of one kernel instantiation."""

    name: str
    instantiation: tuple[str, ...]
    contract: Contract | None
    properties: tuple[PropertyResult, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one gate says about one file."""

    gate: str
    outcome: Outcome = Outcome.NOT_RUN
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    kernels: tuple[KernelResult, ...] = ()
    assumptions: tuple[Clause, ...] = ()
    not_checked: tuple[str, ...] = ()
    """What this gate did not look at, one phrase each, for the report's first line."""
    detail: str = ""
    """Why it is not PASS, one line; for NOT_RUN why it did not run."""
    facts: dict[str, Any] = field(default_factory=dict)
    """JSON-able extras: seeds, schedules, coverage, sandbox."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """Everything said about one file."""

    path: str
    sha256: str
    verdict: Outcome
    seconds: float
    gates: tuple[GateResult, ...]
    headline: str = ""
    message: str = ""
    """For ERROR (exit 2 or 4): the one clear line."""
    bad_input: bool = False
    not_checked: tuple[str, ...] = ()
    """What nothing looked at, one phrase each; printed in the first line."""
    reasons: tuple[str, ...] = ()
    """Why it is not PASS, one line each."""
    draft: str = ""
    """The contract to review, as TOML, where one is missing."""
    texts: dict[str, str] = field(default_factory=dict)
    """The submitted texts by path, for source excerpts only; not part of the JSON report."""


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    files: tuple[FileResult, ...]
    complete: bool
    exit: int
    tool: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
