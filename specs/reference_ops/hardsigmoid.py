"""hardsigmoid(x) = min(max(x + 3, 0), 6) / 6.

Tolerance: rounding of that formula or of min(max(x/6 + 1/2, 0), 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def bounds(input: Interval) -> Interval:
    by_six = (input + 3.0).maximum(0.0).minimum(6.0) / 6.0
    direct = (input / 6.0 + 0.5).maximum(0.0).minimum(1.0)
    return by_six.hull(direct)


OP = Op(
    name="hardsigmoid",
    callables=("torch.nn.functional.hardsigmoid", "torch.nn.Hardsigmoid"),
    inputs=(Operand("input", points=(-3.0, 0.0, 3.0)),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("hardsigmoid", "hard_sigmoid"),
)
