"""cross_entropy of logits (n×c) and class indices (n): -log_softmax(input)[target], reduced by mean, sum or none.

Tolerance: that of log_softmax for each row, then k·u·Σ|terms| for the sum of k rows in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, reductions

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x, t = inputs
    if len(x) < 2 or t != x[:-1] or len(x) != 2:
        raise DoesNotFit(f"cross_entropy of {x} and {t}")
    return [t if options["reduction"] == "none" else ()]


def bounds(input: Interval, target: Interval, reduction: str) -> Interval:
    from specs.reference_ops._interval import exponentials, reduced_loss

    index = target.lo.long()[:, None]
    m, _, total = exponentials(input, (1,))
    chosen = input.structural(lambda t: t.gather(1, index))
    each = (total.log() - (chosen - m)).hull(m + total.log() - chosen)
    return reduced_loss(each.structural(lambda t: t[:, 0]), reduction)


OP = Op(
    name="cross_entropy",
    callables=("torch.nn.functional.cross_entropy", "torch.nn.CrossEntropyLoss"),
    inputs=(
        Operand("input", names=("logits", "pred", "predictions", "x")),
        Operand("target", names=("target", "targets", "labels", "label"), values="index"),
    ),
    options=(Option("reduction", "mean", candidates=reductions),),
    shape=shape,
    bounds=bounds,
    signature=("input", "target", "class_weight", "size_average", "ignore_index", "reduce", "reduction"),
    words=("cross_entropy", "crossentropy"),
)
