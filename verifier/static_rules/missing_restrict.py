"""Pointer parameters of a kernel are __restrict__."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.ir.nodes import Pointer
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "missing-restrict"
SEVERITY = Severity.NOTE
SUMMARY = "pointer parameters of a kernel are __restrict__"
WHY = "Without it the compiler has to reload after every store, and read-only data is not cached as such."
FIX = "add __restrict__ if the launcher never passes overlapping buffers"


def check(reading: Reading) -> Iterator[Hit]:
    seen: set[str] = set()
    for kernel in reading.module.kernels:
        pointers = [p for p in kernel.params if isinstance(p.type, Pointer)]
        if len(pointers) > 1 and not any(p.restrict for p in pointers) and kernel.name not in seen:
            seen.add(kernel.name)
            yield Hit(kernel.span, f"no pointer of {kernel.name} is __restrict__", kernel.name)
