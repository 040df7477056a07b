"""linear(x) = x·weightᵀ + bias.

Tolerance: (k + 2)·u·Σ|x·w| for sums of k products in any order, and one rounding for the bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Options, Shape

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x, w = inputs[:2]
    if len(w) != 2 or not x or x[-1] != w[1] or any(b != (w[0],) for b in inputs[2:]):
        raise DoesNotFit(f"linear of {', '.join(map(str, inputs))}")
    return [(*x[:-1], w[0])]


def product(x: Tensor, w: Tensor) -> Tensor:
    return x @ w.mT


def bounds(input: Interval, weight: Interval, bias: Interval | None = None) -> Interval:
    y: Interval = input.contract(weight, product, input.lo.shape[-1] + 1)
    if bias is None:
        return y
    # The bias may be the accumulator's first value: then each rounding is of a sum that contains it.
    slack = bias.abs() * (2.0 * input.fmt.unit * (input.lo.shape[-1] + 1))
    total: Interval = y + bias + slack.hull(-slack)
    return total


OP = Op(
    name="linear",
    callables=("torch.nn.functional.linear", "torch.nn.Linear"),
    inputs=(
        Operand("input", names=("x", "inp", "in", "X")),
        Operand("weight", names=("w", "W")),
        Operand("bias", optional=True, names=("b", "B")),
    ),
    shape=shape,
    bounds=bounds,
    words=("linear", "fully_connected", "dense"),
)
