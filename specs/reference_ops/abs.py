"""|x|, element by element.

Tolerance: none; exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.abs()


OP = Op(
    name="abs",
    callables=("torch.abs", "torch.absolute", "torch.Tensor.abs"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    ints=True,
    words=("abs",),
)
