"""Pointers that a thread keeps in memory of its own: variables whose address is taken, members, arrays of pointers.

Each is an entry of ``State.env`` under the name of its place (``*object:offset``), so that branches join it like a local. Only a
local object has such entries, at constant offsets; a store that may touch one ends it.

Invariant: an entry is what the thread stored there last, on every path that leads here.

Example: after ``const float *in[2] = {a, b};`` a load of ``in[j]`` with 0 <= j <= 1 is a if j == 0 and b if j == 1.
"""

from __future__ import annotations

from verifier.ir import nodes as ir
from verifier.smt.terms import Const, Term
from verifier.symex.expressions import Evaluator, State
from verifier.symex.summary import MemoryObject
from verifier.symex.values import Ptr, Value

SIZE = ir.size_of(ir.Pointer(ir.VOID))
MOST = 8
"""Targets of one pointer."""


def _prefix(obj: str) -> str:
    return f"*{obj}:"


def forget(x: Evaluator, obj: MemoryObject | None, offset: Term | None = None, size: int = 0) -> None:
    """End what a store of ``size`` bytes may change; None: any object, any offset."""
    prefix = "*" if obj is None else _prefix(obj.name)
    for name in [n for n in x.state.env if n.startswith(prefix)]:
        at = int(name.rpartition(":")[2])
        apart = isinstance(offset, Const) and not at - size < offset.value < at + SIZE
        if not apart:
            del x.state.env[name]
            x.changed.append(name)


def note_store(x: Evaluator, pointer: Ptr, value: Value | None, field: int = 0) -> None:
    """Remember a pointer that was stored, where the place is one."""
    if isinstance(value, Ptr) and len(pointer.alts) == 1:
        _, obj, offset = pointer.alts[0]
        if obj is not None and obj.space == "local" and isinstance(offset, Const):
            name = f"{_prefix(obj.name)}{offset.value + field}"
            x.state.env[name] = value
            x.changed.append(name)


def load(x: Evaluator, pointer: Ptr) -> Ptr | None:
    """The pointer that is kept at a place, if all places that it may be are known."""
    if len(pointer.alts) != 1:
        return None
    _, obj, offset = pointer.alts[0]
    if obj is None or obj.space != "local" or offset.lo is None or offset.hi is None:
        return None
    t = x.t
    if t.rem(offset, t.const(SIZE)) is not t.zero or offset.hi - offset.lo >= MOST * SIZE:
        return None
    targets: list[tuple[Term, MemoryObject | None, Term]] = []
    deps = pointer.deps
    for at in range(offset.lo, offset.hi + 1):
        if at % SIZE:
            continue
        entry = x.state.env.get(f"{_prefix(obj.name)}{at}")
        if not isinstance(entry, Ptr):
            return None
        here = t.eq(offset, t.const(at))
        targets += [(t.and_(here, c), o, m) for c, o, m in entry.alts]
        deps |= entry.deps
    targets = [alternative for alternative in targets if alternative[0] is not t.false]
    if len(targets) > MOST:
        return None
    t.record("within", offset, offset.lo, offset.hi)
    return Ptr(tuple(targets), deps)


def names(state: State) -> frozenset[str]:
    """All that is kept."""
    return frozenset(n for n in state.env if n.startswith("*"))
