"""silu(x) = x · sigmoid(x), also called swish.

Tolerance: rounding of x·sigmoid(x) or x/(1 + exp(-x)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    x = input
    return (x * x.sigmoid()).hull(x / (1.0 + (-x).exp()))


OP = Op(
    name="silu",
    callables=("torch.nn.functional.silu", "torch.nn.SiLU"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("silu", "swish"),
)
