"""elu(x) = x for x > 0, else alpha · (exp(x) - 1).

Tolerance: ``exp(x) - 1`` cancels near 0, so the error is absolute there (terms of size alpha); ``expm1f`` lies inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, alpha: float) -> Interval:
    x = input
    return x.where_below(0.0, x.const(alpha) * (x.minimum(0.0).exp() - 1.0), x)


OP = Op(
    name="elu",
    callables=("torch.nn.functional.elu", "torch.nn.ELU"),
    inputs=(Operand("input"),),
    options=(Option("alpha", 1.0, ("alpha", "a"), (1.0, 0.5, 2.0)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("elu",),
)
