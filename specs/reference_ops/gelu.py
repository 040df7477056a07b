"""gelu(x) = x/2 · (1 + erf(x/√2)), or x/2 · (1 + tanh(√(2/π)(x + 0.044715x³))) for approximate="tanh".

Tolerance: rounding of the written formula. For x below -3 the sum ``1 + erf`` cancels, so the error there is a few
units of |x|/2 rather than of the (tiny) result: a kernel that follows the formula is right.
The tanh form may also be computed as x · sigmoid(2u).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, pointwise

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval

SQRT_HALF = 0.7071067811865476
SQRT_2_OVER_PI = 0.7978845608028654


def bounds(input: Interval, approximate: str) -> Interval:
    x = input
    if approximate == "tanh":
        u = SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)
        return (0.5 * x * (1.0 + u.tanh())).hull(x * (2.0 * u).sigmoid())
    return 0.5 * x * (1.0 + (x * SQRT_HALF).erf())


OP = Op(
    name="gelu",
    callables=("torch.nn.functional.gelu", "torch.nn.GELU"),
    inputs=(Operand("input"),),
    options=(Option("approximate", "none"),),
    shape=pointwise,
    bounds=bounds,
    flat=True,
    words=("gelu",),
)
