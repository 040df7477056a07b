"""How often a loop's test is made at most, by the intervals of its counters alone.

Loop, closed forms -> a number or None. Invariant: the counters named in ``steps`` are ``init + k*step`` without wrapping.

Example: ``for (int i = t; i < n; i += 4)`` with t >= 0 and n <= 1000 tests 250 times at most, and then fails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from verifier.ir import nodes as ir
from verifier.smt.terms import Term
from verifier.symex.expressions import State, Unmodelled
from verifier.symex.syntax import reads, unconverted
from verifier.symex.values import Val

if TYPE_CHECKING:
    from verifier.symex.loops import LoopRules

MIRROR = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def most_tests(
    x: LoopRules, loop: ir.Loop, steps: Mapping[str, Term], modified: Collection[str], entry: State
) -> int | None:
    """An upper bound on the number of tests that hold, from ``v < B`` with v = init + k*c, c >= 1 (or the mirror image)."""
    best: int | None = None
    stack: list[ir.Expr] = [loop.cond]
    while stack:
        e = stack.pop()
        if isinstance(e, ir.And):
            stack += [e.left, e.right]
        elif isinstance(e, ir.Compare):
            for v, bound, op in ((e.left, e.right, e.op), (e.right, e.left, MIRROR[e.op])):
                counter = unconverted(v, x.wrapped)
                if not isinstance(counter, ir.Read) or counter.name not in steps:
                    continue
                if any(r in modified for r in reads(bound)) or not isinstance(bound.type, ir.Int):
                    continue
                limit = _limit(x, entry.env[counter.name], steps[counter.name], bound, op)
                if limit is not None:
                    best = limit if best is None else min(best, limit)
    return best


def _limit(x: LoopRules, init: object, step: Term, bound: ir.Expr, op: str) -> int | None:
    if not isinstance(init, Val):
        return None
    mark = x._mark()
    try:
        b = x.value(bound).term
    except Unmodelled:
        return None
    finally:
        x._rollback(mark)
    low, high = init.term.lo, init.term.hi
    if op in ("lt", "le") and step.lo is not None and step.lo >= 1 and b.hi is not None and low is not None:
        room, least = b.hi + (op == "le") - low, step.lo
    elif (
        op in ("gt", "ge") and step.hi is not None and step.hi <= -1 and b.lo is not None and high is not None
    ):
        room, least = high + (op == "ge") - b.lo, -step.hi
    else:
        return None
    return max(0, -(-room // least))
