"""-x, element by element.

Tolerance: none; exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return -input


OP = Op(
    name="neg",
    callables=("torch.neg", "torch.negative", "torch.Tensor.neg", "torch.Tensor.__neg__"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    ints=True,
    words=("neg", "negate"),
)
