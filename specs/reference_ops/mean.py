"""Mean over one dim or over everything.

Tolerance: k·u·Σ|terms|/k and the rounding of the division; dividing each term first lies inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Options, Shape, Value, reduced, reduction_dims

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    return [reduced(inputs[0], options["dim"])]


def bounds(input: Interval, dim: Value, keepdim: bool) -> Interval:
    from specs.reference_ops._interval import mean

    return mean(input, dim, keepdim)


def reference(input: Tensor, dim: Value, keepdim: bool) -> Tensor:
    return input.mean() if dim is None else input.mean(dim=dim, keepdim=keepdim)


OP = Op(
    name="mean",
    callables=("torch.mean", "torch.Tensor.mean"),
    inputs=(Operand("input"),),
    options=(Option("dim", None, candidates=reduction_dims), Option("keepdim", False)),
    shape=shape,
    whole=True,
    bounds=bounds,
    reference=reference,
    words=("mean", "average"),
)
