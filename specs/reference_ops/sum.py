"""Sum over one dim or over everything.

Tolerance: k·u·Σ|terms| for k terms, which holds for every order and every tree of additions, atomics included.
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
    from specs.reference_ops._interval import axes

    return input.sum(axes(input, dim), keepdim)


def reference(input: Tensor, dim: Value, keepdim: bool) -> Tensor:
    return input.sum() if dim is None else input.sum(dim=dim, keepdim=keepdim)


OP = Op(
    name="sum",
    callables=("torch.sum", "torch.Tensor.sum"),
    inputs=(Operand("input"),),
    options=(Option("dim", None, candidates=reduction_dims), Option("keepdim", False)),
    shape=shape,
    whole=True,
    bounds=bounds,
    reference=reference,
    ints=True,
    words=("sum", "reduce_sum", "reduce"),
)
