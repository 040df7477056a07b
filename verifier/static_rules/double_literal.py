"""Float code has no double literals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "double-literal"
SEVERITY = Severity.NOTE
SUMMARY = "float code has no double literals"
WHY = "One double literal makes the whole expression double, at 1/32 to 1/64 of the speed on most GPUs."
FIX = "write the suffix f"
_DOUBLE = re.compile(r"(\d+\.\d*|\.\d+)([eE][+-]?\d+)?|\d+[eE][+-]?\d+")
_WIDE = frozenset(("double", "double2", "double3", "double4", "scalar_t"))


def check(reading: Reading) -> Iterator[Hit]:
    for function in reading.functions:
        texts = {w.text for w in (*function.head, *function.body)}
        if not function.device or texts & _WIDE or "float" not in texts or "template" in texts:
            continue
        literal = next((w for w in function.body if w.kind == "number" and _DOUBLE.fullmatch(w.text)), None)
        if literal is not None:
            yield Hit(
                literal.span, f"{literal.text} is a double in {function.name}", "", f"write {literal.text}f"
            )
