"""hardtanh(x) = min(max(x, min_val), max_val).

Tolerance: none; the result is x or one of the two limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, min_val: float, max_val: float) -> Interval:
    return input.maximum(min_val).minimum(max_val)


OP = Op(
    name="hardtanh",
    callables=("torch.nn.functional.hardtanh", "torch.nn.Hardtanh"),
    inputs=(Operand("input", points=(-1.0, 1.0)),),
    options=(
        Option("min_val", -1.0, ("min_val", "min_value", "lo", "low"), (-1.0, -2.0)),
        Option("max_val", 1.0, ("max_val", "max_value", "hi", "high"), (1.0, 2.0)),
    ),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("hardtanh", "hard_tanh"),
)
