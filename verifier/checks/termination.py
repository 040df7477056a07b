"""Every loop ends: a counter moves towards a bound that stays (``symex.endings``). So does a wait for other blocks.

Loops whose every test was decided were taken apart and end. Loops that wait for memory have no such counter: unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Summary

ID = "termination"
SUMMARY = "every loop ends"


def applies(s: Summary) -> bool:
    """Whether there are loops besides those that were taken apart, or blocks that wait for each other."""
    return bool(s.loops) or any(b.kind == "grid" for b in s.barriers)


def claims(c: Claims) -> Iterator[Obligation]:
    """One for each loop, and for each barrier of the grid."""
    t = c.s.t
    for loop in c.s.loops:
        goal = t.false if loop.moves is None else loop.moves
        made = c.single(ID, loop.span, "the loop ends", (loop.guard,), goal)
        note = "unsupported: no counter of its test moves towards a bound" if loop.moves is None else ""
        yield replace(made, note=note)
    for b in c.s.barriers:
        if b.kind == "grid":
            there = t.true if c.s.contract.launch.cooperative else t.false
            made = c.single(ID, b.span, f"all blocks come to {b.what}", (b.guard,), there)
            yield replace(made, note=f"unsupported: {b.what} in a launch that is not cooperative")
