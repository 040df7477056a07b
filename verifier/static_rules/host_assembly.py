"""Host code holds no assembly."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "host-assembly"
SEVERITY = Severity.ERROR
SUMMARY = "host code holds no assembly"
WHY = "Host assembly can include files and run code when the library is loaded, before any check."
FIX = "remove the assembly; device code may use inline PTX"


def check(reading: Reading) -> Iterator[Hit]:
    inside = {w.span for f in reading.host_functions if f.device for w in f.body}
    for word in reading.host:
        if word.kind == "ident" and word.text in ("asm", "__asm__", "__asm") and word.span not in inside:
            yield Hit(word.span, "assembly outside of device code")
