"""smooth_l1_loss: d²/(2·beta) where |d| < beta, else |d| - beta/2, for d = input - target.

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
        raise DoesNotFit(f"smooth_l1_loss of {', '.join(map(str, inputs))}")
    return [inputs[0] if options["reduction"] == "none" else ()]


def bounds(input: Interval, target: Interval, reduction: str, beta: float) -> Interval:
    from specs.reference_ops._interval import reduced_loss

    d = (input - target).abs()
    each = d.where_below(beta, 0.5 * d.square() / beta, d - 0.5 * beta, width=4)
    return reduced_loss(each, reduction)


OP = Op(
    name="smooth_l1_loss",
    callables=("torch.nn.functional.smooth_l1_loss", "torch.nn.SmoothL1Loss"),
    inputs=(
        Operand("input", names=("pred", "predictions", "x", "inp", "output")),
        Operand("target", names=("target", "targets", "y", "truth", "label", "labels")),
    ),
    options=(Option("reduction", "mean", candidates=reductions), Option("beta", 1.0, ("beta",), (1.0, 0.5))),
    shape=shape,
    bounds=bounds,
    signature=("input", "target", "size_average", "reduce", "reduction", "beta"),
    words=("smooth_l1", "smooth_l1_loss"),
)
