"""relu(x) = max(x, 0), element by element.

Tolerance: none; the result is x or 0, so every format gives it exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.maximum(0.0)


OP = Op(
    name="relu",
    callables=(
        "torch.relu",
        "torch.nn.functional.relu",
        "torch.nn.ReLU",
        "torch.Tensor.relu",
    ),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    ints=True,
    words=("relu",),
)
