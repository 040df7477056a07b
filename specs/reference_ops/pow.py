"""xᵖ for a constant exponent p, element by element.

Tolerance: 8 ulp (``powf``), or p roundings for a product of p factors. Negative x needs a whole p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, exponent: float) -> Interval:
    from specs.reference_ops._interval import powered

    return powered(input, float(exponent))


OP = Op(
    name="pow",
    callables=("torch.pow", "torch.Tensor.pow", "torch.Tensor.__pow__"),
    inputs=(Operand("input"),),
    options=(Option("exponent", 2, ("p", "exponent"), (2.0, 3.0)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("pow", "power"),
)
