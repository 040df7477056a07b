"""Identifiers are plain ASCII."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "non-ascii-identifier"
SEVERITY = Severity.WARNING
SUMMARY = "identifiers are plain ASCII"
WHY = "Letters of other scripts look like Latin ones, so two names that look alike may differ."
FIX = "spell the name in ASCII"


def check(reading: Reading) -> Iterator[Hit]:
    seen: set[str] = set()
    for word in reading.user:
        if word.kind == "ident" and not word.text.isascii() and word.text not in seen:
            seen.add(word.text)
            yield Hit(word.span, f"identifier {word.text!a} holds letters outside ASCII")
