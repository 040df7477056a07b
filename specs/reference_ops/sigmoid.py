"""sigmoid(x) = 1 / (1 + exp(-x)).

Tolerance: rounding of that formula or of (1 + tanh(x/2))/2, whose error is absolute (terms of size 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.sigmoid()


OP = Op(
    name="sigmoid",
    callables=(
        "torch.sigmoid",
        "torch.nn.functional.sigmoid",
        "torch.nn.Sigmoid",
        "torch.Tensor.sigmoid",
        "torch.special.expit",
    ),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("sigmoid", "logistic"),
)
