"""Calls of pure intrinsics -> symbolic values, through the intrinsic table's ``int_meaning``.

Invariant: an integer result is either its exact meaning, or any value of its type inside an interval that the meaning
guarantees; a float result is opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.location import Span
from verifier.intrinsics import TABLE
from verifier.ir import nodes as ir
from verifier.smt.terms import Term, Terms
from verifier.symex.summary import MemoryObject

if TYPE_CHECKING:
    from verifier.symex.expressions import Evaluator, Ptr, Val, Value


SHARED_POINTER = "shared pointer"
"""The front end's name for the pointer that a 32-bit shared address means."""
_TO_ADDRESS = ("__cvta_generic_to_shared", "__cvta_generic_to_global")
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
    from verifier.symex.expressions import Unmodelled, Val

    obj = p.alts[0][1] if len(p.alts) == 1 else None
    if obj is None or not isinstance(e.type, ir.Int):
        raise Unmodelled("pointer cast", "a pointer whose target is not known, as a number", span)
    offset = p.alts[0][2]
    if obj is x.null:
        return Val(offset, p.deps)
    return x.fit(x.t.add(address_of(x.t, obj), offset), e.type, id(e), span, "address", p.deps, False)


def pointer_at(x: Evaluator, v: Val, span: Span) -> Ptr:
    """A number as a pointer: it must be the address of one object plus a number that is no address."""
    from verifier.symex.expressions import Ptr, Unmodelled

    t = x.t
    by_name = {_ADDRESS + o.name: o for o in x.s.objects.values()}
    bases = [m for m in t.poly(v.term) if any(a.op == "app" and a.name in by_name for a in m)]
    if len(bases) != 1 or len(bases[0]) != 1 or t.poly(v.term)[bases[0]] != 1:
        raise Unmodelled(
            "pointer cast", "a number that is not the address of one object plus an offset", span
        )
    base = bases[0][0]
    return Ptr(((t.true, by_name[base.name], t.sub(v.term, base)),), v.deps)


def call(x: Evaluator, e: ir.Call) -> Value:
    """The value of a pure intrinsic call."""
    from verifier.symex.expressions import Val

    if e.name in _TO_ADDRESS:
        return address(x, x.ptr(e.args[0]), e, e.span)
    if e.name == SHARED_POINTER:
        return pointer_at(x, x.value(e.args[0]), e.span)
    args = [x.value(a) for a in e.args]
    deps = 0
    for a in args:
        deps |= a.deps
    terms = tuple(a.term for a in args)
    if isinstance(e.type, ir.Float):
        return Val(x.t.float(e.name, tuple(_opaque(x, a) for a in terms), 0), deps)
    if isinstance(e.type, ir.Bool):
        if all(a.op == "float" for a in terms) and terms:
            return Val(x.t.bapp(f"flt:{e.name}", terms, 0), deps)
        return Val(x.fresh_bool(e.name), deps)
    if isinstance(e.type, ir.Int):
        entry = TABLE.get(e.name)
        meaning = entry.int_meaning if entry is not None else None
        if meaning is not None and all(a.op != "float" and not a.is_bool for a in terms):
            return _integer(x, e, meaning, terms, deps)
        return _unknown_int(x, e, terms, deps)
    return x.fresh_of(e.type, e.name)


def _opaque(x: Evaluator, term: Term) -> Term:
    """Any term as an argument of an opaque float function."""
    return term if term.op == "float" else x.t.float(f"of:{term.id}", (), term.level)


def _unknown_int(x: Evaluator, e: ir.Call, terms: tuple[Term, ...], deps: int) -> Val:
    from verifier.symex.expressions import Val, int_range

    assert isinstance(e.type, ir.Int)
    lo, hi = int_range(e.type.bits, e.type.signed)
    level = max((a.level for a in terms), default=0)
    name = f"call:{e.name}:" + ":".join(str(a.id) for a in terms)
    x.s.approximations.append((f"the value of {e.name}", e.span))
    return Val(x.t.app(name, (), level, lo, hi), deps)


def _integer(x: Evaluator, e: ir.Call, meaning: str, a: tuple[Term, ...], deps: int) -> Val:
    from verifier.symex.expressions import Val, int_range

    t = x.t
    ty = e.type
    assert isinstance(ty, ir.Int)
    lo, hi = int_range(ty.bits, ty.signed)
    operand = e.args[0].type
    width = operand.bits if isinstance(operand, ir.Int) else 32
    match meaning:
        case "min":
            return Val(t.minimum(a[0], a[1]), deps)
        case "max":
            return Val(t.maximum(a[0], a[1]), deps)
        case "abs":
            exact = t.maximum(a[0], t.neg(a[0]))
            return x.fit(exact, ty, id(e), e.span, "absolute value", deps, True)
        case "popc" | "clz" | "ffs":
            out = t.app(f"{meaning}{width}", (a[0],), 0, 0, width)
            if meaning == "popc":
                x.s.fact(out, t.iff(t.eq(a[0], t.zero), t.eq(out, t.zero)))
            return Val(out, deps)
        case "mul24":
            small = all(
                v.lo is not None and v.hi is not None and v.lo >= -(1 << 23) and v.hi < 1 << 23 for v in a
            )
            if small:
                return x.fit(t.mul(a[0], a[1]), ty, id(e), e.span, "24-bit product", deps, True)
            return Val(t.app("mul24", a, 0, lo, hi), deps)
        case "mulhi":
            if all(v.lo is not None and v.lo >= 0 for v in a):
                return Val(t.quot(t.mul(a[0], a[1]), t.const(1 << width)), deps)
            return Val(t.app(f"mulhi{width}", a, 0, lo, hi), deps)
        case "hadd" | "rhadd":
            total = t.add(a[0], a[1]) if meaning == "hadd" else t.add(t.add(a[0], a[1]), t.one)
            if total.lo is not None and total.lo >= 0:
                return Val(t.quot(total, t.const(2)), deps)
            return Val(t.app(f"{meaning}{width}", a, 0, lo, hi), deps)
        case "sad":
            diff = t.sub(a[0], a[1])
            return x.fit(t.add(t.maximum(diff, t.neg(diff)), a[2]), ty, id(e), e.span, "sum", deps, False)
        case _:
            signed = "s" if ty.signed else "u"
            return Val(t.app(f"{meaning}{width}{signed}", a, 0, lo, hi), deps)
