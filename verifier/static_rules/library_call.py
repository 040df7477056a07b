"""Which operations PyTorch or a library computes is said."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.compute import HEAVY
from verifier.source.reading import Reading
from verifier.static_rules.flow import host_uses, uses
from verifier.static_rules.hit import Hit

ID = "library-call"
SEVERITY = Severity.NOTE
SUMMARY = "which operations PyTorch or a library computes is said"
WHY = "What a library computes is not checked by looking at the kernels."
FIX = "none needed; the fuzz gate compares the whole with --run-wrapper"
SWITCHABLE = True


def check(reading: Reading) -> Iterator[Hit]:
    python = (
        uses(reading.wrapper) if reading.wrapper is not None and reading.wrapper.forward is not None else []
    )
    for use in [u for u in (*python, *host_uses(reading)) if u.operation in HEAVY]:
        yield Hit(use.span, f"{use.name} is computed by a library")
