"""The safe-size frontier: for which sizes a launch is proved that is refuted or open for all of them.

Bare verdicts -> verdicts with ``safe_for``, the largest bound found under which the property is PROVED, as a clause. One
size alone is bounded where that is enough (``h <= 65535``), else all buffers (``elements <= 1048576``). Invariant: the
verdict stays what it is; a bound is told only if the property was proved under it, so that whatever ends the search
early gives a smaller bound, never a wrong one.

Example: ``int j = 4 * i`` for ``i < n`` is REFUTED in ``overflow`` and safe for ``n <= 536870912``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from specs.clauses import ClauseError, names
from specs.contract import Clause, Contract
from specs.results import Finding, PropertyResult, Reason, Verdict

SECONDS = 5.0
_SMALL = 256
_OPEN = (Verdict.UNKNOWN, Verdict.REFUTED)
_HOPELESS = (Reason.UNSUPPORTED, Reason.NOT_ACCEPTED, Reason.VACUOUS, Reason.RESOURCES)
Probe = Callable[[Sequence[Clause], Sequence[str], float], Sequence[PropertyResult]]


class Verdicts(Protocol):
    """What is used of ``engine.KernelVerdicts``."""

    @property
    def properties(self) -> tuple[PropertyResult, ...]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


def bounded(
    bare: Verdicts, contract: Contract, cap: int, missing: Iterable[str], probe: Probe, deadline: float
) -> tuple[PropertyResult, ...]:
    """``missing``: clauses that are missing anyway. ``probe`` verifies properties under clauses, until a time."""
    now = time.monotonic()
    search = _Search(contract, cap, tuple(missing), probe, min(now + SECONDS, now + (deadline - now) / 4))
    faults = [(f.id, f.witness.symbols) for f in bare.findings if f.witness is not None]
    small = {id_ for id_, values in faults if max(values.values(), default=0) <= _SMALL}
    left = [r.id for r in bare.properties if _worth_it(r)]
    left = [id_ for id_ in left if id_ not in small]
    told: dict[str, tuple[str, int | None]] = {}
    if search.missing and left and (found := search.proved_at([], left)):  # for all sizes
        told |= dict.fromkeys(found, (" and ".join(search.missing), None))
        left = [id_ for id_ in left if id_ not in found]
    for size in search.candidates() if left else ():
        found = search.proved(size, search.least(size), left) if left else []
        if found:
            shown = [values[size] for id_, values in faults if id_ in found and size in values]
            most = search.largest(size, found, min(shown, default=cap + 1))
            told |= dict.fromkeys(found, (search.told(size, most), most if size is None else None))
            left = [id_ for id_ in left if id_ not in found]
    return tuple(
        replace(r, safe_for=told[r.id][0], frontier=told[r.id][1]) if r.id in told else r
        for r in bare.properties
    )


def _worth_it(r: PropertyResult) -> bool:
    known = bool(r.safe_for) or r.id in ("coverage", "termination")
    return r.verdict in _OPEN and r.reason not in _HOPELESS and not known


class _Search:
    """Sizes are contract symbols; None stands for the elements of every buffer."""

    def __init__(
        self, contract: Contract, cap: int, missing: tuple[str, ...], probe: Probe, until: float
    ) -> None:
        self.contract, self.cap, self.missing, self.probe, self.until = contract, cap, missing, probe, until
        self.extents = [x for x in dict.fromkeys(b.extent for b in contract.buffers) if _symbolic(x)]

    def candidates(self) -> list[str | None]:
        """Sizes that are not fixed: those of buffers first."""
        used = {n for x in self.extents for n in names(x)}
        free = [s for s in self.contract.symbols if s.kind == "dim" or s.value is None]
        alone = sorted((s.name for s in free), key=lambda n: n not in used)[:6]
        return [*alone, *([None] if self.extents and len(alone) != 1 else [])]

    def least(self, size: str | None) -> int:
        """A small bound that leaves something of the domain."""
        return max(_SMALL, next((s.low or 1 for s in self.contract.symbols if s.name == size), 1))

    def proved(self, size: str | None, most: int, properties: Sequence[str]) -> list[str]:
        """Those of the properties that are PROVED up to this size."""
        texts = [f"{size} <= {most}"] if size is not None else [f"{x} <= {most}" for x in self.extents]
        return self.proved_at(texts, properties)

    def proved_at(self, texts: Sequence[str], properties: Sequence[str]) -> list[str]:
        """Those of the properties that are PROVED under clauses."""
        if time.monotonic() > self.until:
            return []
        span = self.contract.launch.span
        clauses = [Clause(text, "derived", span) for text in (*self.missing, *texts)]
        results = self.probe(clauses, properties, self.until)
        shown = {r.id for r in results if r.verdict is Verdict.PROVED}
        return [p for p in properties if p in shown]

    def largest(self, size: str | None, properties: Sequence[str], fault: int) -> int:
        """The largest bound at which all are proved: just below the fault, or by doublings, then in between."""

        def holds(most: int) -> bool:
            return len(self.proved(size, most, properties)) == len(properties)

        good, bad = self.least(size), fault
        if good < fault - 1 <= self.cap and holds(fault - 1):
            return fault - 1
        step = (bad // good).bit_length()
        while step > 1:  # good is proved, good << step is not
            half = step // 2
            good, step = (good << half, step - half) if holds(good << half) else (good, half)
        bad = min(bad, 2 * good)
        while bad - good > 1 and time.monotonic() < self.until:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if holds(middle) else (good, middle)
        return good

    def told(self, size: str | None, most: int) -> str:
        """The bound in words of the contract, with what is missing besides."""
        return " and ".join(
            [
                *self.missing,
                f"{size} <= {most}" if size is not None else f"buffers of at most {most} elements",
            ]
        )


def _symbolic(text: str) -> bool:
    try:
        return bool(names(text))
    except ClauseError:
        return False
