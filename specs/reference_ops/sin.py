"""sin(x), element by element.

Tolerance: 2 ulp (``sinf``), or 2⁻²¹·⁴ absolute (``__sinf`` within ±π; beyond it that function is no sine to float32).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    import torch

    return input.wave(torch.sin)


OP = Op(
    name="sin",
    callables=("torch.sin", "torch.Tensor.sin"),
    inputs=(Operand("input", magnitude=1e4),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("sin", "sine"),
)
