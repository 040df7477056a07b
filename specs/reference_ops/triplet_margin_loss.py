"""triplet_margin_loss: max(‖a - p‖ - ‖a - n‖ + margin, 0) over the last dim, reduced by mean, sum or none.

PyTorch adds eps to each difference. Tolerance: the norms' (k·u and a root), their cancelling difference, the sum's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, reductions

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    if any(s != inputs[0] for s in inputs):
        raise DoesNotFit(f"triplet_margin_loss of {', '.join(map(str, inputs))}")
    return [inputs[0][:-1] if options["reduction"] == "none" else ()]


def bounds(
    anchor: Interval,
    positive: Interval,
    negative: Interval,
    margin: float,
    p: float,
    eps: float,
    reduction: str,
) -> Interval:
    from specs.reference_ops._interval import axes, reduced_loss

    if p != 2.0:
        raise ValueError("triplet_margin_loss has bounds for p=2 only")
    axis = axes(anchor, -1)

    def distance(a: Interval, b: Interval) -> Interval:
        with_eps = (a - b + eps).square().sum(axis).at_least(0.0).sqrt()
        return with_eps

    each = (distance(anchor, positive) - distance(anchor, negative) + margin).maximum(0.0)
    return reduced_loss(each, reduction)


OP = Op(
    name="triplet_margin_loss",
    callables=("torch.nn.functional.triplet_margin_loss", "torch.nn.TripletMarginLoss"),
    inputs=(
        Operand("anchor", names=("a",)),
        Operand("positive", names=("p", "pos")),
        Operand("negative", names=("n", "neg")),
    ),
    options=(
        Option("margin", 1.0, ("margin",), (1.0, 0.5)),
        Option("p", 2.0),
        Option("eps", 1e-6),
        Option("reduction", "mean", candidates=reductions),
    ),
    shape=shape,
    bounds=bounds,
    signature=(
        "anchor",
        "positive",
        "negative",
        "margin",
        "p",
        "eps",
        "swap",
        "size_average",
        "reduce",
        "reduction",
    ),
    words=("triplet",),
)
