"""softplus(x) = log(1 + exp(beta·x)) / beta, and x itself where beta·x > threshold.

Tolerance: rounding of that formula. For very negative x the sum ``1 + exp`` absorbs the exponential, so the error is
absolute (terms of size 1); ``log1pf`` and ``max(x, 0) + log1p(exp(-|x|))`` lie inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, beta: float, threshold: float) -> Interval:
    x = input
    scaled = beta * x
    direct = (1.0 + scaled.exp()).log() / beta
    stable = (scaled.maximum(0.0) + (1.0 + (-scaled.abs()).exp()).log()) / beta
    # Past the threshold log(1 + exp(x)) is x to the last bit, so a kernel without the threshold may keep the formula,
    # as long as it does not overflow.
    return scaled.where_below(threshold, direct.hull(stable), x.hull(stable), width=2)


OP = Op(
    name="softplus",
    callables=("torch.nn.functional.softplus", "torch.nn.Softplus"),
    inputs=(Operand("input", points=(0.0, 20.0)),),
    options=(Option("beta", 1.0, ("beta",), (1.0, 2.0)), Option("threshold", 20.0, ("threshold",), (20.0,))),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("softplus",),
)
