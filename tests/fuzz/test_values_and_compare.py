"""Drawn values are what their kind says and what the dtype holds; comparison says exactly what is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fuzz import dtypes, values
from fuzz.compare import compare
from fuzz.oracle import Expected
from fuzz.values import Recipe
from specs.reference_ops import Operand

X = Operand("x")


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("kind", [*values.ORDINARY, *values.SPECIAL])
def test_values_are_held_exactly_and_come_again(kind: str, dtype: str) -> None:
    first = values.fill(Recipe(kind, 3), 500, dtype, X)
    assert first.size == 500
    again = dtypes.decode(dtypes.encode(first, dtype), dtype)
    assert np.array_equal(first, again, equal_nan=True)
    assert np.array_equal(first, values.fill(Recipe(kind, 3), 500, dtype, X), equal_nan=True)
    assert np.isfinite(first).all() == (kind in values.ORDINARY)


def test_every_kind_of_no_elements() -> None:
    for kind in (*values.ORDINARY, *values.SPECIAL):
        assert values.fill(Recipe(kind, 0), 0, "f32", X).size == 0


def test_domains() -> None:
    assert (values.fill(Recipe("uniform", 1), 500, "f32", Operand("x", values="positive")) > 0).all()
    ints = values.fill(Recipe("uniform", 1), 500, "i32", X, low=0, high=9)
    assert ints.min() == 0 and ints.max() == 9
    assert values.fill(Recipe("ones", 1), 5, "i64", X, low=2, high=9).tolist() == [2] * 5
    assert set(values.fill(Recipe("tiny", 1), 500, "f32", X)) - {0.0}
    assert (np.abs(values.fill(Recipe("tiny", 1), 500, "f32", X)) < 2.0**-126).all()


@pytest.mark.parametrize(
    "dtype", ["f16", "bf16", "f32", "f64", "i8", "u8", "i16", "i32", "u32", "i64", "u64"]
)
def test_poison_is_recognised_by_element(dtype: str) -> None:
    raw = bytearray(dtypes.poison(dtype, 6))
    assert len(raw) == 6 * dtypes.size(dtype) and dtypes.untouched(bytes(raw), dtype).all()
    raw[2 * dtypes.size(dtype) :][:1] = b"\x00"
    raw[2 * dtypes.size(dtype)] = 0
    assert dtypes.untouched(bytes(raw), dtype).tolist() == [True, True, False, True, True, True]
    if dtype in dtypes.FLOATS:
        assert np.isnan(dtypes.decode(dtypes.poison(dtype, 2), dtype)).all()


def expected(
    value: list[float], low: list[float], high: list[float], nan: list[bool] | None = None
) -> Expected:
    arrays = [np.array(a, dtype=np.float64) for a in (value, low, high)]
    return Expected((len(value),), *arrays, np.array(nan or [False] * len(value)))


def test_inside_and_outside_the_doubled_bound() -> None:
    e = expected([1.0, 1.0], [0.9, 0.9], [1.1, 1.1])
    assert compare(np.array([0.81, 1.19]), e, "f32").mismatch is None
    wrong = compare(np.array([1.0, 1.21]), e, "f32").mismatch
    assert wrong is not None and (wrong.index, wrong.count, wrong.nonfinite) == (1, 1, False)


def test_exact_results_are_exact() -> None:
    e = expected([1.0], [1.0], [1.0])
    assert compare(np.array([1.0]), e, "f32").mismatch is None
    assert compare(np.array([1.0 - 2.0**-24]), e, "f32").mismatch is not None


def test_exact_value_that_the_dtype_rounds() -> None:
    e = expected([0.1], [0.1], [0.1])
    assert compare(np.array([float(np.float16(0.1))]), e, "f16").mismatch is None
    assert compare(np.array([float(np.float16(0.1)) + 2.0**-13]), e, "f16").mismatch is not None


def test_nan_is_no_match() -> None:
    e = expected([1.0], [0.9], [1.1])
    wrong = compare(np.array([math.nan]), e, "f32").mismatch
    assert wrong is not None and wrong.nonfinite
    maybe = expected([1.0], [0.9], [1.1], [True])
    assert compare(np.array([math.nan]), maybe, "f32").mismatch is None


def test_special_positions_must_match() -> None:
    e = expected([math.nan, math.inf, -math.inf], [-math.inf] * 3, [math.inf] * 3, [True, False, False])
    assert compare(np.array([math.nan, math.inf, -math.inf]), e, "f32", special=True).mismatch is None
    for i in range(3):
        got = np.array([math.nan, math.inf, -math.inf])
        got[i] = 1.0
        wrong = compare(got, e, "f32", special=True).mismatch
        assert wrong is not None and wrong.index == i and wrong.nonfinite


def test_overflow_in_the_dtype_is_allowed_at_its_edge_only() -> None:
    near = expected([3.4e38], [3.3e38], [math.inf])
    assert compare(np.array([math.inf]), near, "f32").mismatch is None
    far = expected([1e30], [0.9e30], [1.1e30])
    assert compare(np.array([math.inf]), far, "f32").mismatch is not None


def test_unchecked_elements_are_counted() -> None:
    e = expected([1.0, 1.0], [-math.inf, 0.9], [math.inf, 1.1])
    found = compare(np.array([77.0, 1.0]), e, "f32")
    assert found.mismatch is None and found.checked == 1


def test_integers_are_exact() -> None:
    e = expected([3.0], [3.0], [3.0])
    assert compare(np.array([3]), e, "i32").mismatch is None
    assert compare(np.array([4]), e, "i32").mismatch is not None


def test_wrong_size_is_an_error_not_a_match() -> None:
    with pytest.raises(ValueError, match="elements of output"):
        compare(np.array([1.0, 2.0]), expected([1.0], [1.0], [1.0]), "f32")
