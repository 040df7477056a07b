"""leaky_relu(x) = x for x > 0, else negative_slope · x.

Tolerance: one rounding of the slope and one of the product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, negative_slope: float) -> Interval:
    return input.where_below(0.0, negative_slope * input, input)


OP = Op(
    name="leaky_relu",
    callables=("torch.nn.functional.leaky_relu", "torch.nn.LeakyReLU"),
    inputs=(Operand("input"),),
    options=(Option("negative_slope", 0.01, ("negative_slope", "slope", "alpha"), (0.01, 0.2, 0.5)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("leaky", "leakyrelu"),
)
