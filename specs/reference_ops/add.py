"""a + alpha · b, element by element, with PyTorch's broadcasting.

Tolerance: one rounding of the product and one of the sum (fused or not).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, broadcast

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, other: Interval | float, alpha: float) -> Interval:
    return input + (other if alpha == 1 else alpha * other)


OP = Op(
    name="add",
    callables=("torch.add", "torch.Tensor.add", "torch.Tensor.__add__", "torch.Tensor.__radd__"),
    inputs=(Operand("input"), Operand("other")),
    options=(Option("alpha", 1, ("alpha",), (1.0, -2.0, 0.5)),),
    shape=broadcast,
    bounds=bounds,
    ints=True,
    words=("add", "vecadd", "vector_add"),
)
