"""relu6(x) = min(max(x, 0), 6), element by element.

Tolerance: none; the result is x or one of the two limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.maximum(0.0).minimum(6.0)


OP = Op(
    name="relu6",
    callables=("torch.nn.functional.relu6", "torch.nn.ReLU6"),
    inputs=(Operand("input", points=(0.0, 6.0)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    ints=True,
    words=("relu6",),
)
