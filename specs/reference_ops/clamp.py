"""clamp(x, min, max): x limited to [min, max].

Tolerance: none; the result is x or one of the two limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, min: float | None, max: float | None) -> Interval:
    low = input if min is None else input.maximum(min)
    return low if max is None else low.minimum(max)


OP = Op(
    name="clamp",
    callables=("torch.clamp", "torch.clip", "torch.Tensor.clamp", "torch.Tensor.clip"),
    inputs=(Operand("input"),),
    options=(
        Option("min", None, ("min", "min_val", "lo", "low", "lower"), (-1.0, -0.5)),
        Option("max", None, ("max", "max_val", "hi", "high", "upper"), (1.0, 0.5)),
    ),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("clamp", "clip"),
)
