"""What one thread reads twice without anything in between is one value: facts for claims about races alone.

Loads and stores -> facts in ``Summary.congruent``. A cell is remembered from a load or a store until the thread stores to
memory that may be the same, meets a barrier, an atomic operation or a fence, or enters or leaves a loop.

Invariant: in every execution without a race before this point, the facts hold (docs/soundness.md, "Reading twice").

Example: ``if (s[i] == 0 && s[j] != 0) s[i] = 1;`` gives ``i == j`` implies ``s[i] == s[j]``: no such thread has i == j.
"""

from __future__ import annotations

from dataclasses import dataclass

from specs.location import Span
from verifier.ir import nodes as ir
from verifier.smt.terms import Term
from verifier.symex.expressions import Evaluator, State
from verifier.symex.summary import MemoryObject
from verifier.symex.values import Ptr, Val, Value

MOST = 12
"""Cells that are remembered at a time."""


@dataclass(frozen=True, slots=True)
class Cell:
    """An integer that the thread has read or written at ``offset`` of an object."""

    obj: MemoryObject
    offset: Term
    type: ir.Int
    value: Term
    deps: int


def forget(state: State, obj: MemoryObject | None = None) -> None:
    """What may have changed: everything, or what a store to ``obj`` may touch."""
    state.cells = tuple(c for c in state.cells if obj is not None and _apart(c.obj, obj))


def _apart(a: MemoryObject, b: MemoryObject) -> bool:
    private = ("shared", "local")
    return a.name != b.name and (a.space != b.space or a.space in private)


def kept(a: State, b: State) -> tuple[Cell, ...]:
    """What both of two states remember."""
    return a.cells if a.cells == b.cells else tuple(c for c in a.cells if c in b.cells)


def note_load(x: Evaluator, pointer: Ptr, type_: ir.Type, value: Value, span: Span) -> None:
    """Tie a loaded integer to what is remembered of the same object, and remember it."""
    cell = _cell(pointer, type_, value)
    if cell is None or cell.value.op != "app":
        return
    t = x.t
    for known in x.state.cells:
        if known.obj is not cell.obj or known.type != cell.type:
            continue
        same = t.eq(known.offset, cell.offset)
        if same is t.false:
            continue
        x.sink(known.deps, span, "a value that is read again")
        fact = t.implies(t.and_(x.state.guard, same), t.eq(known.value, cell.value))
        x.s.congruent.setdefault(cell.value, []).append(fact)
    x.state.cells = (*x.state.cells, cell)[-MOST:]


def note_store(x: Evaluator, pointer: Ptr, type_: ir.Type, value: Value | None) -> None:
    """Forget what the store may have changed; remember what it wrote."""
    for _, obj, _ in pointer.alts:
        if obj is None:
            forget(x.state)
        else:
            forget(x.state, obj)
    cell = _cell(pointer, type_, value)
    if cell is not None:
        x.state.cells = (*x.state.cells, cell)[-MOST:]


def _cell(pointer: Ptr, type_: ir.Type, value: Value | None) -> Cell | None:
    if len(pointer.alts) != 1 or not isinstance(type_, ir.Int) or not isinstance(value, Val):
        return None
    _, obj, offset = pointer.alts[0]
    term = value.term
    if obj is None or obj.space not in ("shared", "global", "local") or term.is_bool or term.op == "float":
        return None
    return Cell(obj, offset, type_, term, pointer.deps | value.deps)
