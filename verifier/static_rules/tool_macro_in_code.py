"""Code names no macro that compilers define."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.macros import is_read_differently
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "tool-macro-in-code"
SEVERITY = Severity.ERROR
SUMMARY = "device code names no macro that compilers define"
WHY = "Each compiler puts another value there, so the program that was audited is not the one that ships."
FIX = "write the value out, or pass it as an argument"


def check(reading: Reading) -> Iterator[Hit]:
    for word in reading.device:
        if word.kind == "ident" and is_read_differently(word.text):
            yield Hit(word.span, f"{word.text} is another value for every compiler")
