"""l1_loss: |input - target|, reduced by mean, sum or none.

Tolerance: one rounding a term, then k·u·Σ|terms| for the sum of k terms in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, reductions

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    if any(s != inputs[0] for s in inputs):
        raise DoesNotFit(f"l1_loss of {', '.join(map(str, inputs))}")
    return [inputs[0] if options["reduction"] == "none" else ()]


def bounds(input: Interval, target: Interval, reduction: str) -> Interval:
    from specs.reference_ops._interval import reduced_loss

    each = (input - target).abs()
    return reduced_loss(each, reduction)


OP = Op(
    name="l1_loss",
    callables=("torch.nn.functional.l1_loss", "torch.nn.L1Loss"),
    inputs=(
        Operand("input", names=("pred", "predictions", "x", "inp", "output")),
        Operand("target", names=("target", "targets", "y", "truth", "label", "labels")),
    ),
    options=(Option("reduction", "mean", candidates=reductions),),
    shape=shape,
    bounds=bounds,
    signature=("input", "target", "size_average", "reduce", "reduction"),
    words=("l1_loss", "mae"),
)
