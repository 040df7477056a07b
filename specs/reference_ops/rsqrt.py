"""1 / sqrt(x), element by element.

Tolerance: 3 ulp, which covers ``rsqrtf`` and ``1/sqrtf``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.rsqrt()


OP = Op(
    name="rsqrt",
    callables=("torch.rsqrt", "torch.Tensor.rsqrt"),
    inputs=(Operand("input", values="positive"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("rsqrt",),
)
