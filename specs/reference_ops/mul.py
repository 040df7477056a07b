"""a · b, element by element, with PyTorch's broadcasting.

Tolerance: one rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, broadcast

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, other: Interval | float) -> Interval:
    return input * other


OP = Op(
    name="mul",
    callables=(
        "torch.mul",
        "torch.multiply",
        "torch.Tensor.mul",
        "torch.Tensor.multiply",
        "torch.Tensor.__mul__",
        "torch.Tensor.__rmul__",
    ),
    inputs=(Operand("input"), Operand("other")),
    shape=broadcast,
    bounds=bounds,
    ints=True,
    words=("mul", "product"),
)
