"""cos(x), element by element.

Tolerance: 2 ulp (``cosf``), or 2⁻²¹·⁴ absolute (``__cosf`` within ±π; beyond it that function is no cosine to float32).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    import torch

    return input.wave(torch.cos)


OP = Op(
    name="cos",
    callables=("torch.cos", "torch.Tensor.cos"),
    inputs=(Operand("input", magnitude=1e4),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("cos", "cosine"),
)
