"""Why a loop ends: its test compares a counter with a bound that stays, and each round moves the counter towards it.

Loop -> the condition under which it ends. Invariant: where the condition holds at the loop's entry and the operations of
the counter's updates and of the test kept their types, the test fails after finitely many rounds. Counters are closed
forms (``i += step``), halved (``s > 0; s >>= 1``) or multiplied (``s < n; s *= 2`` from 1 on).
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from verifier.ir import nodes as ir
from verifier.smt.terms import Term, Terms
from verifier.symex.expressions import State
from verifier.symex.summary import LoopEnd
from verifier.symex.syntax import assigned, leaves, reads, strip_conversions, unconverted, updates_of
from verifier.symex.values import Val

_MIRROR = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def ending(
    t: Terms, loop: ir.Loop, steps: Mapping[str, Term], entry: State, wrapped: Container[object]
) -> LoopEnd:
    """What the end of a loop rests on; any conjunct of the test may be the one that fails."""
    modified = assigned((*loop.head, *loop.body, *loop.step))
    stack: list[ir.Expr] = [loop.cond]
    found: Term | None = None
    while stack and found is None:
        e = stack.pop()
        if isinstance(e, ir.And):
            stack += [e.right, e.left]
        elif isinstance(e, ir.Compare):
            for side, bound, op in ((e.left, e.right, e.op), (e.right, e.left, _MIRROR[e.op])):
                v = unconverted(side, wrapped)
                if isinstance(v, ir.Read) and not any(r in modified for r in reads(bound)):
                    found = found or _moves(t, loop, v.name, op, bound, steps, entry, wrapped)
    return LoopEnd(loop.span, entry.guard, found)


def _moves(
    t: Terms, loop: ir.Loop, v: str, op: str, bound: ir.Expr, steps: Mapping[str, Term], entry: State,
    wrapped: Container[object],
) -> Term | None:  # fmt: skip
    if v in steps:
        if op in ("lt", "le"):
            return t.le(t.one, steps[v])
        return t.le(steps[v], t.const(-1)) if op in ("gt", "ge") else None
    factor = _factor(loop, v, wrapped)
    if factor is None:
        return None
    shrinks, by = factor
    least = strip_conversions(bound)
    if shrinks and isinstance(least, ir.IntConst) and least.value >= 0 and bound.type == least.type:
        return t.true if op == "gt" or (op == "ge" and least.value >= 1) else None
    init = entry.env.get(v)
    if not shrinks and by >= 2 and op in ("lt", "le") and isinstance(init, Val):
        return t.le(t.one, init.term)
    return None


def _factor(loop: ir.Loop, v: str, wrapped: Container[object]) -> tuple[bool, int] | None:
    """(whether it divides, by what) of the one update of v in every round; None for any other."""
    updates = updates_of((*loop.head, *loop.body, *loop.step), v)
    if len(updates) != 1 or not updates[0][0] or updates[0][1] in loop.head:
        return None
    stmt = updates[0][1]
    if stmt not in loop.step and f"{loop.label}.body" in leaves(loop.body):
        return None  # continue passes it by
    value = unconverted(stmt.value, wrapped) if isinstance(stmt, ir.Assign) else None
    if not isinstance(value, ir.Binary) or id(value) in wrapped:
        return None
    own, by = unconverted(value.left, wrapped), strip_conversions(value.right)
    if not isinstance(own, ir.Read) or own.name != v or not isinstance(by, ir.IntConst):
        return None
    match value.op:
        case "shr" | "shl" if 1 <= by.value <= 5:
            return value.op == "shr", 1 << by.value
        case "div" | "mul" if 2 <= by.value <= 64:
            return value.op == "div", by.value
        case _:
            return None
