"""hardswish(x) = x · min(max(x + 3, 0), 6) / 6.

Tolerance: rounding of the formula, the division done last or on the clamped part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    gate = (input + 3.0).maximum(0.0).minimum(6.0)
    # For huge x the product overflows before the division; x/6 first does not.
    by_parts = input * (gate / 6.0)
    return (input * gate / 6.0).hull(by_parts).hull(input * (input / 6.0 + 0.5).maximum(0.0).minimum(1.0))


OP = Op(
    name="hardswish",
    callables=("torch.nn.functional.hardswish", "torch.nn.Hardswish"),
    inputs=(Operand("input", points=(-3.0, 0.0, 3.0)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("hardswish", "hard_swish"),
)
