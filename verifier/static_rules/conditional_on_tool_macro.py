"""Conditions name no macro that compilers or build tools define."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "conditional-on-tool-macro"
SEVERITY = Severity.ERROR
SUMMARY = "conditions name no macro that compilers or build tools define"
WHY = "Two compilers that see different macros compile two different programs, and only one of them was audited."
FIX = "remove the condition, or decide it with -D NAME=VALUE or -D NAME=undefined"


def check(reading: Reading) -> Iterator[Hit]:
    for conditional in reading.submission.conditionals:
        if conditional.tool and not conditional.name.startswith("__has_"):
            yield Hit(
                conditional.span,
                f"#if depends on {conditional.name}, which the compiler or the build decides",
            )
