"""The same kernel in double: only what float alone decides may change."""

from __future__ import annotations

import pytest

from benchmarks.counterexamples import doubled


def test_float_becomes_double() -> None:
    text = "float f(const float* x) { return 0.5f * x[0] * (1.0f + erff(x[0] * 1e-3f)) + __expf(.5F) - fmaxf(x[1], 0.f); }"
    assert doubled(text) == (
        "double f(const double* x) { return 0.5 * x[0] * (1.0 + erf(x[0] * 1e-3)) + exp(.5) - fmax(x[1], 0.); }"
    )


@pytest.mark.parametrize("text", ["float4 v;", "__float_as_int(x)", "reinterpret_cast<int*>(p)", "__half h;"])
def test_a_text_that_looks_at_bits_is_left_to_a_reader(text: str) -> None:
    with pytest.raises(ValueError):
        doubled(text)
