"""Pointers as numbers and back, and comparisons of pointers.

Pointer values -> terms. An object's address is an unknown number; nothing else is known of it.

Invariant: what a comparison or a conversion claims holds wherever the objects lie in memory.

Example::

    address(x, pointer, expression, span).term    # address:x + 4*i
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from specs.contract import NULL_STORAGE
from specs.location import Span
from verifier.ir import nodes as ir
from verifier.smt.terms import Term, Terms
from verifier.symex.summary import MemoryObject

if TYPE_CHECKING:
    from verifier.symex.expressions import Evaluator
    from verifier.symex.values import Ptr, Val, Value


SHARED_POINTER, GLOBAL_POINTER = "shared pointer", "global pointer"
"""The front end's names for the pointers that an address in one state space means."""
OPAQUE_MEMORY: dict[str, Literal["texture", "surface"]] = {
    "texture memory": "texture",
    "surface memory": "surface",
}
"""The front end's names for what a texture or surface object is an access of; arguments: the handle, coordinates."""
TO_ADDRESS = {"__cvta_generic_to_shared": "shared", "__cvta_generic_to_global": "global"}
_ADDRESS = "address:"
_TOPS = {"shared": 1 << 18}


def address_of(t: Terms, obj: MemoryObject) -> Term:
    """The unknown address of an object: one for the whole launch, but a thread's own for a local array."""
    level = 2 if obj.space == "local" else 0
    return t.app(_ADDRESS + obj.name, (), level, 0, _TOPS.get(obj.space, 1 << 47))


def is_address(t: Terms, term: Term) -> bool:
    """Whether an object's address is a summand."""
    return any(a.op == "app" and a.name.startswith(_ADDRESS) for mono in t.poly(term) for a in mono)


def address(x: Evaluator, p: Ptr, e: ir.Call | ir.Convert, span: Span) -> Val:
    """A pointer as a number. Nothing is known of it but which object it points into, and where."""
    from verifier.symex.expressions import Unmodelled
    from verifier.symex.values import Val

    obj = p.alts[0][1] if len(p.alts) == 1 else None
    if obj is None or not isinstance(e.type, ir.Int):
        raise Unmodelled("pointer cast", "a pointer whose target is not known, as a number", span)
    offset = p.alts[0][2]
    if obj is x.null:
        return Val(offset, p.deps)
    return x.fit(x.t.add(address_of(x.t, obj), offset), e.type, id(e), span, "address", p.deps, False)


def in_space(p: Ptr, space: str, span: Span) -> Ptr:
    """The pointer, whose targets must all lie in the state space (constant memory counts as global)."""
    from verifier.symex.expressions import Unmodelled

    for _, obj, _ in p.alts:
        if obj is None or (obj.space == "shared") != (space == "shared") or obj.space == "local":
            raise Unmodelled("pointer cast", f"an address that is not known to be in {space} memory", span)
    return p


def pointer_at(x: Evaluator, v: Val, span: Span) -> Ptr:
    """A number as a pointer: it must be the address of one object plus a number that is no address."""
    from verifier.symex.expressions import Unmodelled
    from verifier.symex.values import Ptr

    t = x.t
    by_name = {_ADDRESS + o.name: o for o in x.s.objects.values()}
    bases = [m for m in t.poly(v.term) if any(a.op == "app" and a.name in by_name for a in m)]
    if len(bases) != 1 or len(bases[0]) != 1 or t.poly(v.term)[bases[0]] != 1:
        raise Unmodelled(
            "pointer cast", "a number that is not the address of one object plus an offset", span
        )
    base = bases[0][0]
    return Ptr(((t.true, by_name[base.name], t.sub(v.term, base)),), v.deps)


def opaque_memory(x: Evaluator, e: ir.Call) -> Ptr:
    """What a handle stands for, under the name of the parameter that holds it; the coordinates say nothing."""
    from verifier.symex.values import Ptr

    handle, *_ = [x.value(a) for a in e.args]
    assert isinstance(e.type, ir.Pointer)
    space, size = OPAQUE_MEMORY[e.name], ir.size_of(e.type.elem)
    names = [name for name, term in x.s.scalars.items() if term is handle.term]
    name = names[0] if len(names) == 1 else f"{space} object"
    obj = MemoryObject(name, space, None, size, None, size, e.span)
    return Ptr(((x.t.true, obj, x.t.zero),), handle.deps)


def compare(x: Evaluator, e: ir.Compare, a: Value, b: Value) -> Val:
    """Exact within one object and against null; anything else may be either way."""
    from verifier.symex.values import Ptr, Val

    if not isinstance(a, Ptr) or not isinstance(b, Ptr):
        return Val(x.fresh_bool("ptrcmp"))
    t, deps = x.t, a.deps | b.deps
    if len(a.alts) == len(b.alts) == 1 and a.alts[0][1] is not None and a.alts[0][1] is b.alts[0][1]:
        xa, xb = a.alts[0][2], b.alts[0][2]
        table = {
            "lt": t.lt(xa, xb),
            "le": t.le(xa, xb),
            "gt": t.lt(xb, xa),
            "ge": t.le(xb, xa),
            "eq": t.eq(xa, xb),
            "ne": t.ne(xa, xb),
        }
        return Val(table[e.op], deps)
    for one, other in ((a, b), (b, a)):
        if e.op in ("eq", "ne") and _is_null(x, other):
            null = t.or_(*(t.and_(c, _null(x, o)) for c, o, _ in one.alts))
            return Val(null if e.op == "eq" else t.not_(null), deps)
    return Val(x.fresh_bool("ptrcmp"))


def _is_null(x: Evaluator, p: Ptr) -> bool:
    return len(p.alts) == 1 and p.alts[0][1] is x.null and p.alts[0][2] is x.t.zero


def _null(x: Evaluator, obj: MemoryObject | None) -> Term:
    """Whether a pointer into the object is null: a buffer may be (it is empty then), what the kernel declares is not."""
    if obj is x.null:
        return x.t.true
    if obj is None:
        return x.fresh_bool("null")
    if obj.space != "global":
        return x.t.false
    if obj.buffer is not None and obj.buffer.storage == NULL_STORAGE:
        return x.t.true
    return x.t.not_(x.t.bapp(f"nonnull:{obj.name}", (), 0))


def one_place(t: Terms, pointer: Ptr, iters: tuple[Term, ...]) -> bool:
    """Whether all threads of the block have one place of shared memory there, in one round of the loops around it."""
    ((_, obj, offset), *others) = pointer.alts
    if others or obj is None or obj.space != "shared":
        return False
    same = {k: t.app(f"same:{i}", (), 0, k.lo, k.hi) for i, k in enumerate(iters)}
    return t.substitute(offset, same).level <= 1
