"""The program does not depend on when or where it is built."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "build-time-value"
SEVERITY = Severity.ERROR
SUMMARY = "the program does not depend on when or where it is built"
WHY = "The audited program and the shipped one would differ."
FIX = "pass such a value from the host at run time"
_NAMES = ("__DATE__", "__TIME__", "__TIMESTAMP__")


def check(reading: Reading) -> Iterator[Hit]:
    for word in reading.user:
        if word.kind == "ident" and word.text in _NAMES:
            yield Hit(word.span, f"{word.text} differs from build to build")
        elif word.kind == "directive" and any(name in word.text for name in _NAMES):
            yield Hit(word.span, "a build date differs from build to build")
