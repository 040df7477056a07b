"""erf(x), element by element.

Tolerance: 2 ulp (``erff``), or 4 units absolute for the usual rational approximations, whose terms have size 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.erf()


OP = Op(
    name="erf",
    callables=("torch.erf", "torch.special.erf", "torch.Tensor.erf"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("erf",),
)
