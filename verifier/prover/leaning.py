"""Proofs that lean on other proofs: a property that is PROVED only because another one holds falls with it.

Verdicts of one launch -> verdicts. Invariant: barriers order memory only where every thread reaches them, so that without
barrier-divergence nothing that rests on barriers stays PROVED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specs.results import PropertyResult, Reason, Verdict

LEANING = ("race-shared", "race-global", "uninitialized", "bounds-global", "bounds-shared", "bounds-local")


def lean(results: Sequence[PropertyResult], barriers: bool) -> list[PropertyResult]:
    """``barriers``: whether the kernel has any (asked where barrier-divergence was not)."""
    barrier = next((r for r in results if r.id == "barrier-divergence"), None)
    if barrier is None:
        blocked = barriers
    else:
        blocked = barrier.verdict not in (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    if not blocked:
        return list(results)
    detail = "it rests on barriers that all threads reach"
    return [
        replace(
            r, verdict=Verdict.UNKNOWN, reason=Reason.DIVERGENCE, detail=detail, depends=("barrier-divergence",)
        )
        if r.id in LEANING and r.verdict is Verdict.PROVED
        else r
        for r in results
    ]  # fmt: skip
