"""Every loop ends: a counter moves towards a bound that stays (``symex.endings``).

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
    """Whether there are loops besides those that were taken apart."""
    return bool(s.loops)


def claims(c: Claims) -> Iterator[Obligation]:
    """One for each loop."""
    t = c.s.t
    for loop in c.s.loops:
        goal = t.false if loop.moves is None else loop.moves
        made = c.single(ID, loop.span, "the loop ends", (loop.guard,), goal)
        note = "unsupported: no counter of its test moves towards a bound" if loop.moves is None else ""
        yield replace(made, note=note)
