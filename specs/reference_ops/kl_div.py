"""kl_div of log-probabilities and probabilities: target·(log(target) - input), 0 where target is 0.

Tolerance: the logarithm's 3 ulp and two roundings a term, then k·u·Σ|terms| for the sum in any order.
reduction="batchmean" divides the sum by the first dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, reductions

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    if inputs[0] != inputs[1]:
        raise DoesNotFit(f"kl_div of {inputs[0]} and {inputs[1]}")
    return [inputs[0] if options["reduction"] == "none" else ()]


def bounds(input: Interval, target: Interval, reduction: str) -> Interval:
    from specs.reference_ops._interval import reduced_loss

    safe = target.where_below(1e-300, target.const(1.0), target)
    each = target * (safe.log() - input)
    if reduction == "batchmean":
        return reduced_loss(each, "sum") / float(input.lo.shape[0])
    return reduced_loss(each, reduction)


OP = Op(
    name="kl_div",
    callables=("torch.nn.functional.kl_div", "torch.nn.KLDivLoss"),
    inputs=(
        Operand("input", names=("log_pred", "log_predictions", "log_probs")),
        Operand("target", names=("target", "targets"), values="positive"),
    ),
    options=(Option("reduction", "mean", candidates=reductions),),
    shape=shape,
    bounds=bounds,
    signature=("input", "target", "size_average", "reduce", "reduction"),
    words=("kl_div", "kldiv", "kl_divergence"),
)
