"""Proofs that lean on other proofs: a property that is PROVED only because another one holds falls with it.

Verdicts of one launch -> verdicts, each PROVED with what it leans on. Invariant: barriers order memory only where every
thread reaches them, so that without barrier-divergence nothing that rests on barriers stays PROVED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specs.results import PropertyResult, Reason, Verdict

LEANING = (
    "race-shared",
    "race-global",
    "uninitialized",
    "bounds-global",
    "bounds-shared",
    "bounds-local",
    "coverage",
)


RACES = ("race-shared", "race-global")


def lean(
    results: Sequence[PropertyResult], barriers: bool, twice: bool, common: bool
) -> list[PropertyResult]:
    """``barriers``: whether the kernel has any (asked where barrier-divergence was not). ``twice``: whether the claims about
    races took what a thread reads twice for one value, which needs that there is no race in any memory. ``common``: whether
    what the threads of a block read at one place of shared memory was taken for one value.

    Proofs rest on the integer operations that kept their values. One that does not has no exact value in any proof, so
    that nothing falls with it.
    """
    results = [_covered(r, results) for r in results]
    if twice:
        results = [_raceless(r, results) for r in results]
    if common:
        results = [_shared(r, results) for r in results]
    exact = any(r.id == "overflow" and r.verdict is Verdict.PROVED and r.obligations for r in results)
    barrier = next((r for r in results if r.id == "barrier-divergence"), None)
    if barrier is None:
        blocked = barriers
    else:
        blocked = barrier.verdict not in (Verdict.PROVED, Verdict.NOT_APPLICABLE)
    if not blocked:
        return [_said(r, barriers, exact, twice) for r in results]
    detail = "it rests on barriers that all threads reach"
    return [
        replace(
            r, verdict=Verdict.UNKNOWN, reason=Reason.DIVERGENCE, detail=detail, depends=("barrier-divergence",)
        )
        if r.id in LEANING and r.verdict is Verdict.PROVED
        else _said(r, False, exact, twice)
        for r in results
    ]  # fmt: skip


def _shared(r: PropertyResult, results: Sequence[PropertyResult]) -> PropertyResult:
    """What compares two threads falls with the order of shared memory."""
    settled = any(
        x.id == "race-shared" and x.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE) for x in results
    )
    if settled or r.verdict is not Verdict.PROVED or r.id not in ("barrier-divergence", *LEANING):
        return r
    detail = "it rests on race-shared: what a block reads at one place is one value only where nothing races"
    return replace(r, verdict=Verdict.UNKNOWN, reason=Reason.DEPENDS, detail=detail, depends=("race-shared",))


def _raceless(r: PropertyResult, results: Sequence[PropertyResult]) -> PropertyResult:
    """Races in shared and in global memory are proved together or not at all."""
    settled = {x.id for x in results if x.verdict in (Verdict.PROVED, Verdict.NOT_APPLICABLE)}
    open_ = [p for p in RACES if p not in settled]
    if r.id not in RACES or r.verdict is not Verdict.PROVED or not open_:
        return r
    detail = f"it rests on {open_[0]}: what is read twice is one value only where nothing races"
    return replace(r, verdict=Verdict.UNKNOWN, reason=Reason.DEPENDS, detail=detail, depends=(open_[0],))


def _said(r: PropertyResult, barriers: bool, exact: bool, twice: bool) -> PropertyResult:
    if r.verdict is not Verdict.PROVED:
        return r
    on = ["overflow"] if exact and r.id != "overflow" else []
    on += ["barrier-divergence"] if barriers and r.id in LEANING else []
    on += ["launch"] if r.id == "coverage" else []
    on += [p for p in RACES if twice and r.id in RACES and p != r.id]
    return replace(r, depends=tuple(on))


def _covered(r: PropertyResult, results: Sequence[PropertyResult]) -> PropertyResult:
    """Proofs speak of threads that run: that every element is written needs a grid that is not empty, and no trap."""
    if r.id != "coverage" or r.verdict is not Verdict.PROVED:
        return r
    by_id = {x.id: x.verdict for x in results}
    for needed in ("launch", "assert"):
        if by_id.get(needed, Verdict.UNKNOWN) not in (Verdict.PROVED, Verdict.NOT_APPLICABLE):
            return replace(
                r,
                verdict=Verdict.UNKNOWN,
                reason=Reason.DEPENDS,
                detail=f"it rests on {needed}",
                depends=(needed,),
            )
    return r
