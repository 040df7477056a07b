"""Prefix products along dim.

Tolerance: k·u of each product; where partial products of another order may overflow or underflow nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Value, dims, pointwise

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def bounds(input: Interval, dim: int) -> Interval:
    from specs.reference_ops._interval import multiplied

    return multiplied(input, dim)


def reference(input: Tensor, dim: Value) -> Tensor:
    return input.cumprod(dim=dim)


OP = Op(
    name="cumprod",
    callables=("torch.cumprod", "torch.Tensor.cumprod"),
    inputs=(Operand("input"),),
    options=(Option("dim", -1, candidates=dims),),
    shape=pointwise,
    bounds=bounds,
    reference=reference,
    words=("cumprod",),
)
