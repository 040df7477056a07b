"""Index of the largest element along a dim (None: of the flattened tensor).

Comparison instead of a tolerance: any index whose element equals the maximum is right (ties are free).
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
    raise NotImplementedError("an index has no bounds; see accepts")


def reference(input: Tensor, dim: Value, keepdim: bool) -> Tensor:
    return input.argmax() if dim is None else input.argmax(dim=dim, keepdim=keepdim)


def accepts(got: Tensor, input: Interval, dim: Value, keepdim: bool) -> Tensor:
    from specs.reference_ops._interval import index_of_extreme

    return index_of_extreme(got, input, dim)


OP = Op(
    name="argmax",
    callables=("torch.argmax", "torch.Tensor.argmax"),
    inputs=(Operand("input"),),
    options=(Option("dim", None, candidates=reduction_dims), Option("keepdim", False)),
    shape=shape,
    whole=True,
    bounds=bounds,
    reference=reference,
    accepts=accepts,
    ints=True,
    output="index",
    words=("argmax",),
)
