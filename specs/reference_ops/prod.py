"""Product over one dim or over everything.

Tolerance: (1 ± u)ᵏ for k factors in any order; where partial products of another order may overflow or underflow nothing
is said.
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


def bounds(input: Interval, dim: int | None, keepdim: bool) -> Interval:
    from specs.reference_ops._interval import multiplied

    x, axis = (input.structural(lambda t: t.reshape(-1)), 0) if dim is None else (input, dim)
    last = multiplied(x, axis).structural(lambda t: t.narrow(axis, t.shape[axis] - 1, 1))
    return last if keepdim and dim is not None else last.structural(lambda t: t.squeeze(axis))


def reference(input: Tensor, dim: Value, keepdim: bool) -> Tensor:
    return input.prod() if dim is None else input.prod(dim=dim, keepdim=keepdim)


OP = Op(
    name="prod",
    callables=("torch.prod", "torch.Tensor.prod"),
    inputs=(Operand("input"),),
    options=(Option("dim", None, candidates=reduction_dims), Option("keepdim", False)),
    shape=shape,
    whole=True,
    bounds=bounds,
    reference=reference,
    words=("prod", "product_reduce"),
)
