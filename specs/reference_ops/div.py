"""a / b, element by element, with PyTorch's broadcasting.

Tolerance: 2 ulp, which covers ``__fdividef`` and the product with a rounded reciprocal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, broadcast

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, other: Interval | float) -> Interval:
    return input / other


OP = Op(
    name="div",
    callables=(
        "torch.div",
        "torch.divide",
        "torch.true_divide",
        "torch.Tensor.div",
        "torch.Tensor.__truediv__",
    ),
    inputs=(Operand("input"), Operand("other")),
    shape=broadcast,
    bounds=bounds,
    words=("div",),
)
