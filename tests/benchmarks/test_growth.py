"""Growth: the generated kernels are proved, the slope is that of a straight line, time does not grow too fast."""

from __future__ import annotations

import pytest

from benchmarks.growth import FAMILIES, measure, slope, table


def test_the_slope_of_a_power_is_its_exponent() -> None:
    assert slope([(n, 0.5 * n**2) for n in (10, 20, 40, 80)]) == pytest.approx(2.0)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_small_ones_are_proved(family: str) -> None:
    make, sizes = FAMILIES[family]
    record = measure(make(sizes[1]))
    assert record["open"] == [] and record["obligations"] > 0
    assert f"| {family} |" in table({family: {sizes[1]: record}, "other": {1: {"cpu": 1.0, "open": ["x"]}}})


def test_rows_at_equal_distances_are_asked_once() -> None:
    make, _ = FAMILIES["accesses"]
    few, many = (measure(make(n))["obligations"] for n in (20, 40))
    assert many < 2.2 * few


@pytest.mark.sweep
def test_four_hundred_accesses_within_a_minute() -> None:
    make, _ = FAMILIES["accesses"]
    times = [(n, measure(make(n))["cpu"]) for n in (100, 200, 400)]
    assert times[-1][1] < 60 and slope(times) <= 2.2
