"""Calls of pure intrinsics -> symbolic values, through the intrinsic table's ``int_meaning``.

Invariant: an integer result is either its exact meaning, or any value of its type inside an interval that the meaning
guarantees; a float result is opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.intrinsics import TABLE
from verifier.ir import nodes as ir
from verifier.smt.terms import Term
from verifier.symex.pointers import (
    GLOBAL_POINTER,
    OPAQUE_MEMORY,
    SHARED_POINTER,
    TO_ADDRESS,
    address,
    in_space,
    opaque_memory,
    pointer_at,
)

if TYPE_CHECKING:
    from verifier.symex.expressions import Evaluator
    from verifier.symex.values import Val, Value


def call(x: Evaluator, e: ir.Call) -> Value:
    """The value of a pure intrinsic call."""
    from verifier.symex.values import Ptr, Val

    if e.name in TO_ADDRESS:
        return address(x, in_space(x.ptr(e.args[0]), TO_ADDRESS[e.name], e.span), e, e.span)
    if e.name in (SHARED_POINTER, GLOBAL_POINTER):
        given = x.eval(e.args[0])
        pointer = given if isinstance(given, Ptr) else pointer_at(x, given, e.span)
        return in_space(pointer, "shared" if e.name == SHARED_POINTER else "global", e.span)
    if e.name in OPAQUE_MEMORY:
        return opaque_memory(x, e)
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
    from verifier.symex.values import Val, int_range

    assert isinstance(e.type, ir.Int)
    lo, hi = int_range(e.type.bits, e.type.signed)
    level = max((a.level for a in terms), default=0)
    name = f"call:{e.name}:" + ":".join(str(a.id) for a in terms)
    x.s.approximations.append((f"the value of {e.name}", e.span))
    return Val(x.t.app(name, (), level, lo, hi), deps)


def _integer(x: Evaluator, e: ir.Call, meaning: str, a: tuple[Term, ...], deps: int) -> Val:
    from verifier.symex.values import Val, int_range

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
