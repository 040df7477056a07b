"""Shifts and bit operations on integers -> symbolic values.

Invariant: as in ``expressions``. A mask ``m - 1`` is taken for one of a power of two, so that the operation is a remainder: a
lemma, without which the kernel is executed again where it is not shown.

Example: ``t & (stride - 1)`` in a loop that halves ``stride`` from a power of two is ``t % stride``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.ir import nodes as ir
from verifier.smt.terms import Const, Term, Terms
from verifier.symex.summary import Operation
from verifier.symex.values import Val, int_range, shifted, type_name

if TYPE_CHECKING:
    from verifier.symex.expressions import Evaluator


def shift(ev: Evaluator, e: ir.Binary, ty: ir.Int, x: Term, y: Term, deps: int) -> Val:
    """``x << y`` or ``x >> y``."""
    t = ev.t
    inside = t.and_(t.le(t.zero, y), t.lt(y, t.const(ty.bits)))
    deps |= ev.operation((id(e), "shift"), "arithmetic", inside, e.span, "shift out of range", deps, True, y)
    if isinstance(y, Const) and 0 <= y.value < ty.bits:
        power = t.const(1 << y.value)
        if e.op == "shl":
            return ev.fit(
                t.mul(x, power), ty, id(e), e.span, f"left shift of {type_name(ty)}", deps, ty.signed
            )
        return Val(_floor_div(ev, x, power), deps)
    lo, hi = int_range(ty.bits, ty.signed)
    if e.op == "shr" and x.lo is not None and x.lo >= 0:
        out = t.app("shr", (x, y), 0, 0, hi)
        ev.s.fact(out, t.le(out, x))
        return Val(out, deps)
    if e.op == "shl" and isinstance(x, Const) and x.value == 1:
        top = min(y.hi, ty.bits - 1) if y.hi is not None and y.hi >= 0 else ty.bits - 1
        out = t.app("pow2", (y,), 0, 1, 1 << top)
        ev.s.fact(out, *(t.implies(t.eq(y, t.const(k)), t.eq(out, t.const(1 << k))) for k in range(top + 1)))
        return ev.fit(out, ty, id(e), e.span, "left shift", deps, False)
    if e.op == "shl" and isinstance(x, Const) and x.value > 0 and not ty.signed:
        return Val(t.app(shifted(x.value, ty.bits), (y,), 0, lo, hi), deps)
    ev.s.approximations.append(("a shift by a variable amount", e.span))
    return Val(ev.fresh("shift", 2, lo, hi), deps)


def _floor_div(ev: Evaluator, x: Term, power: Term) -> Term:
    t = ev.t
    if x.lo is not None and x.lo >= 0:
        return t.quot(x, power)
    q = t.app(f"sar:{x.id}:{power.id}", (x,), 0, None if x.lo is None else x.lo, x.hi)
    low = t.mul(q, power)
    ev.s.fact(q, t.le(low, x), t.lt(x, t.add(low, power)))
    return q


def bitwise(ev: Evaluator, e: ir.Binary, ty: ir.Int, x: Term, y: Term, deps: int) -> Val:
    """``x & y``, ``x | y`` or ``x ^ y``."""
    if e.op == "and":
        for value, mask in ((x, y), (y, x)):
            power = _below_power(ev, mask, ty.bits)
            if power is None or value.lo is None or value.lo < 0 or (id(e), "mask") in ev.dropped:
                continue
            bit = lemma(ev, (id(e), "mask"), is_power(ev.t, power, ty.bits), e, deps)
            return Val(ev.t.rem(value, power), deps | bit)
    return Val(_bitwise(ev, e.op, ty, x, y), deps)


def _below_power(ev: Evaluator, mask: Term, bits: int) -> Term | None:
    """m, if the term is ``m - 1`` and nothing excludes that m is a power of two that is not known."""
    t = ev.t
    if isinstance(mask, Const) or mask.is_bool or t.poly(mask).get(()) != -1:
        return None
    power = t.add(mask, t.one)
    return power if is_power(t, power, bits) is not t.false else None


def lemma(ev: Evaluator, key: object, holds: Term, e: ir.Binary, deps: int) -> int:
    """Record a guess of ours on the current path; returns its bit."""
    if holds is ev.t.true:
        return 0
    bit, what = 1 << len(ev.s.operations), "a mask is one less than a power of two"
    rests = deps | ev.state.gdeps
    ev.s.operations.append(
        Operation(bit, key, "lemma", ev.state.guard, holds, e.span, what, rests, False, lemma=True)
    )
    return bit


def is_power(t: Terms, x: Term, bits: int, zero: bool = False) -> Term:
    """Whether x is a power of two (or zero) of an unsigned type."""
    powers = [t.eq(x, t.const(1 << i)) for i in range(bits)]
    return t.or_(*powers, *([t.eq(x, t.zero)] if zero else []))


def _bitwise(ev: Evaluator, op: str, ty: ir.Int, x: Term, y: Term) -> Term:
    t = ev.t
    if isinstance(x, Const) and not isinstance(y, Const):
        x, y = y, x
    if isinstance(x, Const) and isinstance(y, Const):
        v = {"and": x.value & y.value, "or": x.value | y.value, "xor": x.value ^ y.value}[op]
        return t.const(v)
    nonneg = x.lo is not None and x.lo >= 0 and y.lo is not None and y.lo >= 0
    if isinstance(y, Const):
        m = y.value
        if y.value == 0:
            return t.zero if op == "and" else x
        if op == "and":
            if m > 0 and m & (m + 1) == 0:
                bits = m.bit_length()
                return t.rem(x, t.const(m + 1)) if x.lo is not None and x.lo >= 0 else t.wrap(x, bits, False)
            inverse = ~m if m < 0 else (~m & ((1 << ty.bits) - 1))
            if inverse > 0 and inverse & (inverse + 1) == 0 and x.lo is not None and x.lo >= 0:
                return t.sub(x, t.rem(x, t.const(inverse + 1)))
    if op == "xor" and isinstance(y, Const) and y.value > 0 and x.lo is not None and x.lo >= 0:
        if y.value & (y.value - 1) == 0:
            digit = t.rem(t.quot(x, y), t.const(2))
            return t.add(t.add(x, y), t.neg(t.mul(t.const(2 * y.value), digit)))
        if y.value & (y.value + 1) == 0 and x.hi is not None and x.hi <= y.value:
            return t.sub(y, x)
    lo, hi = int_range(ty.bits, ty.signed)
    if op == "and" and (nonneg or (isinstance(y, Const) and y.value >= 0)):
        tops = [v for v in (x.hi if x.lo is not None and x.lo >= 0 else None, y.hi) if v is not None]
        out = t.app(f"bitand:{ty.bits}", (x, y), 0, 0, None)
        for side in (x, y):
            if side.lo is not None and side.lo >= 0:
                ev.s.fact(out, t.le(out, side))
        if tops:
            ev.s.fact(out, t.le(out, t.const(min(tops))))
        return out
    if nonneg and x.hi is not None and y.hi is not None:
        bits = max(max(x.hi, y.hi).bit_length(), 1)
        return t.bv(op, bits, x, y, 0, (1 << bits) - 1)  # whatever the type: one term has one interval
    out = t.app(f"bit{op}:{type_name(ty)}", (x, y), 0, lo, hi)
    return out
