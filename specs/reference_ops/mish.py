"""mish(x) = x · tanh(softplus(x)) = x · tanh(log(1 + exp(x))).

Tolerance: rounding of that formula, with softplus's own (absolute, terms of size 1).
``e(e + 2)/(e(e + 2) + 2)`` with e = exp(x) lies inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    x = input
    direct = (1.0 + x.exp()).log()
    stable = x.maximum(0.0) + (1.0 + (-x.abs()).exp()).log()
    return x * x.where_below(20.0, direct.hull(stable), x.hull(stable), width=2).tanh()


OP = Op(
    name="mish",
    callables=("torch.nn.functional.mish", "torch.nn.Mish"),
    inputs=(Operand("input", points=(0.0, 20.0)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("mish",),
)
