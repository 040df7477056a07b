"""Transpose of the last two dims: m×n to n×m.

Tolerance: none; a permutation is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Options, Shape

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    if len(inputs[0]) < 2:
        raise DoesNotFit(f"transpose of {inputs[0]}: a matrix is needed")
    *batch, m, n = inputs[0]
    return [(*batch, n, m)]


def transposed(input: Tensor) -> Tensor:
    return input.mT


def bounds(input: Interval) -> Interval:
    return input.structural(transposed)


OP = Op(
    name="transpose",
    callables=("torch.transpose", "torch.t", "torch.Tensor.mT.__get__"),
    inputs=(Operand("input"),),
    shape=shape,
    bounds=bounds,
    reference=transposed,
    ints=True,
    words=("transpose",),
)
