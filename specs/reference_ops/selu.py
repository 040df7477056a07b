"""selu(x) = scale · (x for x > 0, else alpha · (exp(x) - 1)), alpha = 1.67326…, scale = 1.05070….

Tolerance: as for elu; the negative side is the product of two constants that a kernel may fold into one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval

ALPHA = 1.6732632423543772
SCALE = 1.0507009873554805


def bounds(input: Interval) -> Interval:
    x = input
    below = x.const(SCALE) * (x.const(ALPHA) * (x.minimum(0.0).exp() - 1.0))
    return x.where_below(0.0, below, SCALE * x)


OP = Op(
    name="selu",
    callables=("torch.nn.functional.selu", "torch.nn.SELU", "torch.selu"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("selu",),
)
