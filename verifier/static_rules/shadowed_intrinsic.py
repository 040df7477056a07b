"""The submission defines no function under an intrinsic's name."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.intrinsics import TABLE
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "shadowed-intrinsic"
SEVERITY = Severity.WARNING
SUMMARY = "the submission defines no function under an intrinsic's name"
WHY = "A reader of the code believes in the intrinsic, while another function is called."
FIX = "rename the function"


def check(reading: Reading) -> Iterator[Hit]:
    for function in reading.functions:
        if function.name in TABLE and function.head:
            yield Hit(function.span, f"{function.name} is the name of an intrinsic")
