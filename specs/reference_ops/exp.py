"""exp(x), element by element.

Tolerance: 2 + 1.2·|x| ulp, which covers ``expf``, ``__expf`` and ``exp2f(x·log2 e)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.exp()


OP = Op(
    name="exp",
    callables=("torch.exp", "torch.Tensor.exp"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("exp",),
)
