"""Inline PTX does not branch, return, exit or trap."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, assembly

ID = "assembly-control-flow"
SEVERITY = Severity.ERROR
SUMMARY = "inline PTX does not branch, return, exit or trap"
WHY = "Control flow hidden in assembly lets threads miss barriers and checks that the audit believes in."
FIX = "write the control flow in CUDA C++"
_CONTROL = re.compile(
    r"(?:^|[;{}\n\t])\s*(?:@!?%?\w+\s+)?(bra|brx|call|ret|exit|trap|brkpt|pmevent|nanosleep)\b|(\.pragma|\.file|\.loc|\.section)"
)


def check(reading: Reading) -> Iterator[Hit]:
    for word, template in assembly(reading.device):
        if found := _CONTROL.search(template):
            yield Hit(word.span, f"inline PTX uses {found[1] or found[2]}")
