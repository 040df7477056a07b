"""Floats of host code: exact where they are exact, else any value.

Example: ``to_float`` of an int that every double holds keeps it as a ratio, which ``ceil`` of a quotient uses.
"""

from __future__ import annotations

from verifier.contracts.lvalues import COMPARES
from verifier.contracts.objects import Float, Value
from verifier.contracts.values import Int, arith, compare, const


def to_float(value: Int, dtype: str) -> Float:
    """Exact only where every value of the interval is a float of this type."""
    top = {"f64": 1 << 53, "f32": 1 << 24, "f16": 1 << 11, "bf16": 1 << 8}[dtype]
    exact = value.lo is not None and value.hi is not None and -top <= value.lo and value.hi <= top
    number = float(value.value) if value.value is not None else None
    return Float(number, (value, const(1)) if exact else None, dtype)


def float_binary(op: str, a: Float, b: Float) -> Value | None:
    """Constants are computed; a quotient of exact ints is kept as a ratio for ``ceil`` (double only)."""
    type_ = "f64" if "f64" in (a.type, b.type) else a.type
    if op in COMPARES:
        if a.ratio and b.ratio and a.ratio[1].value == 1 and b.ratio[1].value == 1:
            return compare(op, a.ratio[0], b.ratio[0])
        return None
    if (
        op == "/"
        and type_ == "f64"
        and a.ratio
        and b.ratio
        and a.ratio[1].value == 1
        and b.ratio[1].value == 1
    ):
        if b.ratio[0].lo is not None and b.ratio[0].lo >= 1 and a.ratio[0].lo is not None:
            return Float(None, (a.ratio[0], b.ratio[0]), type_)
    if (
        a.ratio
        and b.ratio
        and a.ratio[1].value == 1
        and b.ratio[1].value == 1
        and op in ("+", "-", "*")
        and type_ == "f64"
    ):
        found = arith(op, a.ratio[0], b.ratio[0], "py")
        if found is not None and found.lo is not None and found.hi is not None:
            return to_float(found, "f64")
    return Float(type=type_)
