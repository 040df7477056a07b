"""log_softmax(x) = (x - max) - log(Σ exp(x - max)) along dim.

Tolerance: the rounding of each difference, the sum's error inside the logarithm, a logarithm of 3 ulp;
``x - (max + log Σ)`` adds one rounding of max.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Value, dims, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval, dim: Value) -> Interval:
    from specs.reference_ops._interval import axes, exponentials

    axis = axes(input, dim)
    m, _, total = exponentials(input, axis)
    return ((input - m) - total.log()).hull(input - (m + total.log()))


OP = Op(
    name="log_softmax",
    callables=(
        "torch.nn.functional.log_softmax",
        "torch.log_softmax",
        "torch.nn.LogSoftmax",
        "torch.Tensor.log_softmax",
    ),
    inputs=(Operand("input"),),
    options=(Option("dim", -1, candidates=dims),),
    shape=pointwise,
    bounds=bounds,
    words=("log_softmax", "logsoftmax"),
)
