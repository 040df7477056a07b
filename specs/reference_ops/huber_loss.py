"""huber_loss: d²/2 where |d| <= delta, else delta·(|d| - delta/2), for d = input - target.

Tolerance: the roundings of either branch (both at the joint), then k·u·Σ|terms| for the sum in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, reductions

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    if any(s != inputs[0] for s in inputs):
        raise DoesNotFit(f"huber_loss of {', '.join(map(str, inputs))}")
    return [inputs[0] if options["reduction"] == "none" else ()]


def bounds(input: Interval, target: Interval, reduction: str, delta: float) -> Interval:
    from specs.reference_ops._interval import reduced_loss

    d = (input - target).abs()
    each = d.where_below(delta, 0.5 * d.square(), delta * (d - 0.5 * delta), width=4)
    return reduced_loss(each, reduction)


OP = Op(
    name="huber_loss",
    callables=("torch.nn.functional.huber_loss", "torch.nn.HuberLoss"),
    inputs=(
        Operand("input", names=("pred", "predictions", "x", "inp", "output")),
        Operand("target", names=("target", "targets", "y", "truth", "label", "labels")),
    ),
    options=(
        Option("reduction", "mean", candidates=reductions),
        Option("delta", 1.0, ("delta",), (1.0, 0.5)),
    ),
    shape=shape,
    bounds=bounds,
    signature=("input", "target", "size_average", "reduce", "reduction", "delta"),
    words=("huber", "huber_loss"),
)
