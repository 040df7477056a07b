"""softsign(x) = x / (1 + |x|).

Tolerance: one rounded addition and one division.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    return input / (1.0 + input.abs())


OP = Op(
    name="softsign",
    callables=("torch.nn.functional.softsign", "torch.nn.Softsign"),
    inputs=(Operand("input"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("softsign",),
)
