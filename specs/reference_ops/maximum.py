"""max(a, b), element by element, with PyTorch's broadcasting.

Tolerance: none; the result is one of the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, broadcast

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, other: Interval | float) -> Interval:
    return input.maximum(other)


OP = Op(
    name="maximum",
    callables=("torch.maximum", "torch.Tensor.maximum"),
    inputs=(Operand("input"), Operand("other")),
    shape=broadcast,
    bounds=bounds,
    ints=True,
    words=("maximum",),
)
