"""norm: the p-norm along dim, (Σ|x|ᵖ)^(1/p), for p = 1, 2 or inf ("fro" is 2).

Tolerance: k·u·Σ of the terms, and the root's 2 ulp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import (
    DoesNotFit,
    Op,
    Operand,
    Option,
    Options,
    Shape,
    Value,
    reduced,
    reduction_dims,
)

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    if options["p"] not in (1, 2, "fro", float("inf")):
        raise DoesNotFit(f"norm with p={options['p']}")
    return [reduced(inputs[0], options["dim"])]


def bounds(input: Interval, p: Value, dim: Value, keepdim: bool) -> Interval:
    from specs.reference_ops._interval import axes

    axis = axes(input, dim)
    if p == 1:
        return input.abs().sum(axis, keepdim)
    if p == float("inf"):
        return input.abs().amax(axis, keepdim)
    return input.square().sum(axis, keepdim).at_least(0.0).sqrt()


OP = Op(
    name="norm",
    callables=("torch.norm", "torch.Tensor.norm", "torch.functional.norm"),
    inputs=(Operand("input"),),
    options=(Option("p", "fro"), Option("dim", None, candidates=reduction_dims), Option("keepdim", False)),
    shape=shape,
    bounds=bounds,
    words=("norm", "l2norm"),
)
