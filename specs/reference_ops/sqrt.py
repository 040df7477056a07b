"""sqrt(x), element by element.

Tolerance: 2 ulp, which covers the approximate instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.sqrt()


OP = Op(
    name="sqrt",
    callables=("torch.sqrt", "torch.Tensor.sqrt"),
    inputs=(Operand("input", values="positive"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("sqrt",),
)
