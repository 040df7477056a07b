"""What is known of a floating-point value: an interval and whether it can be NaN. Term -> Range.

Follows constants, integers made floating, rounding functions, clamps and elementary arithmetic; everything else is any
value. Every rounding is monotone, so a result lies between the rounded results at the ends; what a compiler may do besides
(contracting a*b+c, flushing tiny values to zero) is covered by the margins.

Invariant: every value that the term can have lies in its Range.

Example: ``fminf(fmaxf(floorf(x), 0.0f), 1.0e6f)`` is Range(0.0, 1000000.0, nan=False), whatever x is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from verifier.smt.terms import Term

_TINY = 1.2e-38
"""Below the smallest normal float: such results may be flushed to zero."""
_MARGIN = 2.0**-22
_EXACT = 1 << 24
"""Integers up to this one are floats exactly."""
_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Range:
    """Ends may be infinite; ``nan``: NaN is possible."""

    low: float
    high: float
    nan: bool


ANY = Range(-math.inf, math.inf, True)
_NUMBER = Range(-math.inf, math.inf, False)
_ROUNDINGS: dict[str, Callable[[float], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "rint": round,
    "nearbyint": round,
}


def range_of(term: Term, guard: Iterable[Term] = (), depth: int = _DEPTH) -> Range:
    """The Range of a float term where ``guard`` holds."""
    known = _structural(term, guard, depth)
    for condition in guard:
        known = _refined(term, condition, known, depth)
    return known


def _structural(term: Term, guard: Iterable[Term], depth: int) -> Range:
    name = term.name
    if term.op != "float" or depth == 0:
        return ANY
    if name.startswith("const:"):
        return _constant(name)
    if name.startswith("i2f:") and len(term.args) == 1:
        return _integer(name.removeprefix("i2f:"), term.args[0])
    args = [range_of(a, guard, depth - 1) for a in term.args if a.op == "float"]
    if len(args) != len(term.args):
        return ANY
    match name, args:
        case "cvt:f32", [a]:
            return _rounded(a.low, a.high, a.nan)
        case "cvt:f64", [a]:
            return a
        case "neg", [a]:
            return Range(-a.high, -a.low, a.nan)
        case "ite", [_, a, b]:
            return _union(a, b)
        case "add", [a, b]:
            return _rounded(a.low + b.low, a.high + b.high, _cancels(a, b))
        case "sub", [a, b]:
            return _rounded(a.low - b.high, a.high - b.low, _cancels(a, b))
        case "mul", [a, b]:
            ends = [_product(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
            return _rounded(min(ends), max(ends), a.nan or b.nan or _unbounded(a) or _unbounded(b))
    stem = name.removesuffix("f")
    match stem, args:
        case "fmin", [a, b]:
            return _least(a, b)
        case "fmax", [a, b]:
            other = _least(Range(-a.high, -a.low, a.nan), Range(-b.high, -b.low, b.nan))
            return Range(-other.high, -other.low, other.nan)
        case "fabs", [a]:
            least = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
            return Range(least, max(abs(a.low), abs(a.high)), a.nan)
        case "__saturate", [_]:
            return Range(0.0, 1.0, False)
    if stem in _ROUNDINGS and len(args) == 1:
        a = args[0]
        return Range(_whole(stem, a.low), _whole(stem, a.high), a.nan)
    return ANY


def _constant(name: str) -> Range:
    _, text, kind = name.split(":")
    value = float(text)
    if math.isnan(value) or kind not in ("f32", "f64"):
        return ANY
    return Range(value, value, False) if kind == "f64" or _is_single(value) else _rounded(value, value, False)


def _is_single(value: float) -> bool:
    return value == int(value) and abs(value) <= _EXACT if math.isfinite(value) else True


def _integer(kind: str, term: Term) -> Range:
    if kind not in ("f32", "f64") or term.lo is None or term.hi is None:
        return _NUMBER
    low, high = float(term.lo), float(term.hi)
    if term.lo >= -_EXACT and term.hi <= _EXACT:
        return Range(low, high, False)
    return _rounded(low, high, False)


def _rounded(low: float, high: float, nan: bool) -> Range:
    """The ends with the margins of one rounding; beyond float's range they are infinite."""
    if math.isnan(low) or math.isnan(high):
        return ANY
    low, high = low - abs(low) * _MARGIN - _TINY, high + abs(high) * _MARGIN + _TINY
    return Range(low if low > -3.4e38 else -math.inf, high if high < 3.4e38 else math.inf, nan)


def _product(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _unbounded(a: Range) -> bool:
    return math.isinf(a.low) or math.isinf(a.high)


def _cancels(a: Range, b: Range) -> bool:
    """Whether a sum can be NaN: one operand is, or both can be infinite."""
    return a.nan or b.nan or (_unbounded(a) and _unbounded(b))


def _union(a: Range, b: Range) -> Range:
    return Range(min(a.low, b.low), max(a.high, b.high), a.nan or b.nan)


def _least(a: Range, b: Range) -> Range:
    """IEEE minNum, as fminf: where one operand is NaN it is the other one."""
    high = min(a.high, b.high)
    high = max(high, b.high) if a.nan else high
    high = max(high, a.high) if b.nan else high
    return Range(min(a.low, b.low), high, a.nan and b.nan)


def _whole(stem: str, value: float) -> float:
    return value if math.isinf(value) else float(_ROUNDINGS[stem](value))


def _refined(term: Term, condition: Term, known: Range, depth: int) -> Range:
    """``known`` under a comparison that holds; a comparison that is true has no NaN on either side."""
    if condition.op != "bapp" or not condition.name.startswith("flt:") or len(condition.args) != 2:
        return known
    kind = condition.name.removeprefix("flt:")
    left, right = condition.args
    if left is right or kind not in ("lt", "le", "gt", "ge", "eq") or depth == 0:
        return known
    if right is term:
        left, right = right, left
        kind = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(kind, kind)
    if left is not term:
        return known
    other = _structural(right, (), depth - 1)
    if kind in ("lt", "le", "eq"):
        known = replace(known, high=min(known.high, other.high))
    if kind in ("gt", "ge", "eq"):
        known = replace(known, low=max(known.low, other.low))
    return replace(known, nan=False)
