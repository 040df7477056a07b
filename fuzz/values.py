"""What the inputs hold: a named kind and a seed -> an array. The kinds go from simple to nasty, so that a failure
shrinks towards ones and small integers.

``ordinary`` kinds are finite and make up the general domain; ``special`` ones hold ±inf and NaN (the edge domain).

Example::

    fill(Recipe("uniform", 7), 1000, "f32", operand)     # float64 array whose elements float32 holds exactly
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzz import dtypes
from fuzz.dtypes import Array
from specs.reference_ops import Operand

ORDINARY = (
    "ones", "ramp", "one-hot", "uniform", "normal", "points", "spread", "shifted", "sorted", "descending",
    "constant", "zeros", "large", "tiny", "huge",
)  # fmt: skip
SPECIAL = ("infinities", "nans")
INTEGERS = ("ones", "ramp", "one-hot", "uniform", "sorted", "descending", "zeros")
_LARGEST = {"f16": 65504.0, "bf16": 3.38e38, "f32": 3.4028234663852886e38, "f64": 1.79e308}
_SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}


@dataclass(frozen=True, slots=True)
class Recipe:
    kind: str
    seed: int


def fill(
    recipe: Recipe, count: int, dtype: str, operand: Operand, low: int | None = None, high: int | None = None
) -> Array:
    """``count`` values of the dtype. ``low``/``high``: the contract's bounds on integer contents."""
    rng = np.random.default_rng([recipe.seed, count])
    if dtype not in dtypes.FLOATS:
        return _integers(recipe.kind, rng, count, dtype, low, high)
    values = _floats(recipe.kind, rng, count, dtype, operand)
    if operand.values == "positive":
        values = np.abs(values)
        values[values == 0] = 1.0
    if math.isfinite(operand.magnitude):
        values = np.clip(values, -operand.magnitude, operand.magnitude)
    return dtypes.decode(dtypes.encode(values, dtype), dtype).copy()


def _floats(kind: str, rng: np.random.Generator, count: int, dtype: str, operand: Operand) -> Array:
    top, bottom = _LARGEST[dtype], _SMALLEST[dtype]
    signs = rng.choice([-1.0, 1.0], count)
    uniform = rng.uniform(-1.0, 1.0, count)
    match kind:
        case "ones":
            return np.ones(count)
        case "ramp":
            return (np.arange(count) % 7 - 3).astype(np.float64)
        case "one-hot":
            values = np.zeros(count)
            if count:
                values[rng.integers(count)] = 1.0
            return values
        case "uniform":
            return uniform
        case "normal":
            return rng.normal(0.0, 3.0, count)
        case "points":
            return _near(rng.choice(np.array(operand.points or (0.0,)), count), rng, count, dtype)
        case "spread":
            return signs * 10.0 ** rng.uniform(-6.0, 4.0 if dtype != "f16" else 3.0, count)
        case "shifted":
            return uniform + 100.0
        case "sorted":
            return np.sort(10.0 * uniform)
        case "descending":
            return -np.sort(10.0 * uniform)
        case "constant":
            return np.full(count, 10.0 * uniform[0] if count else 0.0)
        case "zeros":
            return np.where(signs > 0, 0.0, -0.0)
        case "large":
            return signs * rng.uniform(20.0, 200.0, count)
        case "tiny":
            return signs * bottom * 2.0 ** rng.uniform(0.0, 12.0, count)
        case "huge":
            return signs * top * 2.0 ** -rng.uniform(0.0, 10.0, count)
        case "infinities":
            return np.where(rng.random(count) < 0.1, signs * math.inf, 3.0 * uniform)
        case "nans":
            return np.where(rng.random(count) < 0.1, math.nan, 3.0 * uniform)
    raise ValueError(f"unknown kind of values {kind!r}")


def _near(points: Array, rng: np.random.Generator, count: int, dtype: str) -> Array:
    """The points themselves, and their neighbours a few steps of the dtype away."""
    steps = rng.integers(-2, 3, count)
    unit = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}[dtype]
    scale = np.where(points == 0.0, 1e-3, np.abs(points))
    near: Array = points + steps * unit * scale
    return near


def _integers(
    kind: str, rng: np.random.Generator, count: int, dtype: str, low: int | None, high: int | None
) -> Array:
    unsigned = dtype.startswith("u")
    narrow = dtype in ("i8", "u8", "bool")
    least = low if low is not None else 0 if unsigned or dtype == "bool" else -5 if narrow else -1000
    most = high if high is not None else 1 if dtype == "bool" else 10 if narrow else 1000
    match kind:
        case "ones":
            values = np.ones(count, dtype=np.int64)
        case "ramp":
            values = least + np.arange(count) % max(1, min(7, most - least + 1))
        case "one-hot":
            values = np.zeros(count, dtype=np.int64)
            if count:
                values[rng.integers(count)] = 1
        case "zeros":
            values = np.zeros(count, dtype=np.int64)
        case "sorted":
            values = np.sort(rng.integers(least, most, count, endpoint=True))
        case "descending":
            values = np.sort(rng.integers(least, most, count, endpoint=True))[::-1]
        case _:
            values = rng.integers(least, most, count, endpoint=True)
    return np.clip(values, least, most).astype(np.int64)
