"""Prefix sums along dim.

Tolerance: k·u·Σ|terms| for a prefix of up to k terms, which holds for every scan (sequential, tree, look-back).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Value, dims, pointwise

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def bounds(input: Interval, dim: int) -> Interval:
    from specs.reference_ops._interval import scanned

    return scanned(input, dim)


def reference(input: Tensor, dim: Value) -> Tensor:
    return input.cumsum(dim=dim)


OP = Op(
    name="cumsum",
    callables=("torch.cumsum", "torch.Tensor.cumsum"),
    inputs=(Operand("input"),),
    options=(Option("dim", -1, candidates=dims),),
    shape=pointwise,
    bounds=bounds,
    reference=reference,
    words=("cumsum", "scan", "prefix_sum"),
)
