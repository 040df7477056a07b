"""tanh(x).

Tolerance: 2 ulp (``tanhf``), or a few units absolute for the forms by exponentials, whose terms have size 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.tanh()


OP = Op(
    name="tanh",
    callables=("torch.tanh", "torch.nn.functional.tanh", "torch.nn.Tanh", "torch.Tensor.tanh"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("tanh",),
)
