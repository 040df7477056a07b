"""Device code reads no clock."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit, assembly, calls

ID = "clock-read"
SEVERITY = Severity.ERROR
SUMMARY = "device code reads no clock"
WHY = "A kernel that sees the time can behave differently while it is checked."
FIX = "remove it; measure with events on the host"
_CLOCKS = frozenset(
    ("clock", "clock64", "__clock", "__clock64", "__globaltimer", "globaltimer", "__nv_clock64")
)


def check(reading: Reading) -> Iterator[Hit]:
    for word in calls(reading.device, _CLOCKS):
        yield Hit(word.span, f"{word.text}() reads the clock")
    for word, template in assembly(reading.device):
        if found := re.search(r"%(clock\w*|globaltimer\w*)", template):
            yield Hit(word.span, f"inline PTX reads %{found[1]}")
