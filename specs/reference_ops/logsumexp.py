"""logsumexp(x) = max + log(Σ exp(x - max)) along dim.

Tolerance: the exponentials' and the sum's as for softmax, a logarithm of 3 ulp, one rounding of the sum with max.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Options, Shape, Value, reduced, reduction_dims

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    return [reduced(inputs[0], options["dim"])]


def bounds(input: Interval, dim: Value, keepdim: bool) -> Interval:
    from specs.reference_ops._interval import axes, exponentials

    axis = axes(input, dim)
    m, _, total = exponentials(input, axis)
    y = m + total.log()
    if keepdim:
        return y
    kept = [n for i, n in enumerate(input.lo.shape) if i not in axis]
    return y.structural(lambda t: t.reshape(kept))


OP = Op(
    name="logsumexp",
    callables=("torch.logsumexp", "torch.Tensor.logsumexp"),
    inputs=(Operand("input"),),
    options=(Option("dim", None, candidates=reduction_dims), Option("keepdim", False)),
    shape=shape,
    bounds=bounds,
    words=("logsumexp", "log_sum_exp"),
)
