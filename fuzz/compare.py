"""Is what the kernel wrote what the reference allows? ``compare(got, expected, dtype)`` -> the worst element, or None.

The allowed interval of an element is ``[low, high]`` of the oracle, its distances from the float64 value doubled
(``SLACK``), plus one rounding into the output's dtype. NaN must meet NaN and an infinity the same infinity; elements
for which a bound is infinite although the value is small are *unchecked* and counted. Integers, copies and
permutations are exact.

Example::

    compare(np.array([0.5]), expected, "f32")  # Mismatch(index=0, got=0.5, expected=0.4, low=0.3999, high=0.4001, …)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzz.dtypes import FLOATS, Array, decode, encode
from fuzz.oracle import Expected

SLACK = 2.0
_UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
_DENORMAL = {"f16": 2.0**-25, "bf16": 2.0**-134, "f32": 2.0**-150, "f64": 0.0}
_LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": math.inf}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """``index`` into the flat output. ``nonfinite``: NaN or infinity in the wrong place (or missing)."""

    index: int
    got: float
    expected: float
    low: float
    high: float
    count: int
    nonfinite: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """``checked``: elements whose bounds say something."""

    mismatch: Mismatch | None
    checked: int


def compare(got: Array, expected: Expected, dtype: str, *, special: bool = False) -> Comparison:
    """The first wrong element of one output, and how many were checked. ``special``: the inputs hold NaN or infinities.

    Where finite inputs make the float64 reference itself overflow, and a formula may give NaN there, nothing is said.
    """
    value = expected.value
    if got.shape != value.shape:
        raise ValueError(f"{got.size} elements of output against {value.size} of the reference")
    if expected.accepted is not None:
        return _report(~expected.accepted, got, value, value, value, value.size)
    if dtype not in FLOATS:
        return _report(got != value, got, value, value, value, value.size)
    with np.errstate(all="ignore"):
        unit, tiny, largest = _UNIT[dtype], _DENORMAL[dtype], _LARGEST[dtype]
        low = value - SLACK * (value - expected.low)
        high = value + SLACK * (expected.high - value)
        exact = (
            (expected.low == value)
            & (expected.high == value)
            & (decode(encode(value, dtype), dtype) == value)
        )
        low = np.where(exact, value, low - unit * np.abs(low) - tiny)
        high = np.where(exact, value, high + unit * np.abs(high) + tiny)
        low = np.where(np.isnan(low) | (low < -largest), -math.inf, low)
        high = np.where(np.isnan(high) | (high > largest), math.inf, high)
        low, high = np.where(low > largest, largest, low), np.where(high < -largest, -largest, high)
        finite = np.isfinite(value)
        inside = (got >= low) & (got <= high)
        right = np.where(finite, inside | (np.isnan(got) & expected.may_be_nan), _same_special(got, value))
        lost = ~finite & expected.may_be_nan & (~np.isnan(value) | (not special))
        # far below the format's limit, a bound at infinity says that something on the way may overflow: in another way of
        # writing the op (a shifted variance) it may do so to either side
        lost |= finite & (np.abs(value) < largest * 1e-3) & (np.isinf(low) | np.isinf(high))
        right |= lost
        if not special:
            right |= np.isinf(value) & (got >= expected.low) & (got <= expected.high)
    unchecked = ((np.isinf(low) & np.isinf(high)) & finite) | lost
    return _report(~right, got, value, low, high, int(value.size - unchecked.sum()))


def _same_special(got: Array, value: Array) -> Array:
    return np.where(np.isnan(value), np.isnan(got), got == value)


def _report(wrong: Array, got: Array, value: Array, low: Array, high: Array, checked: int) -> Comparison:
    places = np.flatnonzero(wrong)
    if not places.size:
        return Comparison(None, checked)
    telling = places[np.isfinite(value[places])]
    i = int(telling[0] if telling.size else places[0])
    g, v = float(got[i]), float(value[i])
    odd = not (math.isfinite(g) and math.isfinite(v))
    return Comparison(Mismatch(i, g, v, float(low[i]), float(high[i]), int(places.size), odd), checked)
