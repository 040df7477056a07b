"""log(x), natural, element by element.

Tolerance: 3 ulp and a few units absolute near 1, which covers ``logf``, ``__logf`` and ``log2f(x)·ln 2``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input.log()


OP = Op(
    name="log",
    callables=("torch.log", "torch.Tensor.log"),
    inputs=(Operand("input", values="positive"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("log",),
)
