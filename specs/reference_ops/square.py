"""x², element by element.

Tolerance: one rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.square()


OP = Op(
    name="square",
    callables=("torch.square", "torch.Tensor.square"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    ints=True,
    words=("square",),
)
