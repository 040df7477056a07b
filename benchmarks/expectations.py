"""Expectation comments: what a faulty kernel's own lines say must be found.

``//! refuted: bounds-global`` - the tool must refute this property on this line.
``//! not proved: termination`` - this property must not be PROVED (refuted is better; unknown is honest).

Example::

    expectations("y[i] = 1;  //! refuted: bounds-global")   # [Expectation(1, "refuted", "bounds-global")]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from specs.results import Finding, Severity

_COMMENT = re.compile(r"//!\s*(refuted|not proved):\s*([\w-]+)")


@dataclass(frozen=True, slots=True)
class Expectation:
    line: int
    kind: str
    property: str


def expectations(text: str) -> list[Expectation]:
    """All expectation comments of a file (Python strings included), in order."""
    return [
        Expectation(number, m[1], m[2])
        for number, line in enumerate(text.splitlines(), 1)
        if (m := _COMMENT.search(line))
    ]


def lines_of(finding: Finding) -> set[int]:
    """Every line a finding points at: a race has two places, and either may be the marked one."""
    spans = [finding.span, *(s for s, _ in finding.related)]
    if finding.witness:
        spans += [t.span for t in finding.witness.threads]
    return {s.line for s in spans}


def found(expected: Expectation, findings: Iterable[Finding]) -> bool:
    """Whether an error with a replayed witness says what the line says."""
    return any(
        f.id == expected.property
        and f.severity is Severity.ERROR
        and expected.line in lines_of(f)
        and (f.witness is None or f.witness.replayed)
        for f in findings
    )
