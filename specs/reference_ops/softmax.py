"""softmax(x) = exp(x - max) / Σ exp(x - max) along dim.

Tolerance: 2 + 1.2·|x - max| ulp for each exponential, (5k)·u for a sum of k terms (the online form rescales its partial
sum at each new maximum: up to k more roundings), 2 ulp for the division. Without the subtraction of the maximum
exp overflows at x > 88: that is a wrong kernel, not a tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Value, dims, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, dim: Value) -> Interval:
    from specs.reference_ops._interval import softmax

    return softmax(input, dim)


OP = Op(
    name="softmax",
    callables=(
        "torch.nn.functional.softmax",
        "torch.softmax",
        "torch.nn.Softmax",
        "torch.Tensor.softmax",
    ),
    inputs=(Operand("input"),),
    options=(Option("dim", -1, candidates=dims),),
    shape=pointwise,
    bounds=bounds,
    words=("softmax",),
)
