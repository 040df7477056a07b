"""batch_norm: each channel normalised, with the batch's own mean and variance (training=True) or the running ones.

Tolerance: as for layer_norm, over the elements of a channel; with running statistics the roundings of the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x = inputs[0]
    if len(x) < 2 or any(s != (x[1],) for s in inputs[1:]):
        raise DoesNotFit(f"batch_norm of {', '.join(map(str, inputs))}")
    return [x]


def bounds(
    input: Interval,
    running_mean: Interval | None = None,
    running_var: Interval | None = None,
    weight: Interval | None = None,
    bias: Interval | None = None,
    *,
    training: bool,
    momentum: float,
    eps: float,
) -> Interval:
    from specs.reference_ops._interval import affine, channelwise, normalized

    rank = input.lo.dim()
    m, v, w, b = (
        channelwise(t, (1, input.lo.shape[1]), rank) for t in (running_mean, running_var, weight, bias)
    )
    if training or m is None or v is None:
        return normalized(input, (0, *range(2, rank)), eps, w, b)
    return affine(input, m, (v + eps).rsqrt(), w, b)


def reference(input: Tensor, **arguments: Any) -> Tensor:
    from torch.nn.functional import batch_norm

    mean, var = (arguments.pop(k, None) for k in ("running_mean", "running_var"))
    return batch_norm(input, mean, var, **arguments)


OP = Op(
    name="batch_norm",
    callables=(
        "torch.nn.functional.batch_norm",
        "torch.nn.BatchNorm1d",
        "torch.nn.BatchNorm2d",
        "torch.nn.BatchNorm3d",
    ),
    inputs=(
        Operand("input", names=("x", "inp", "in")),
        Operand("running_mean", optional=True, names=("mean", "mu")),
        Operand("running_var", optional=True, names=("var", "variance"), values="positive"),
        Operand("weight", optional=True, names=("gamma", "w", "scale")),
        Operand("bias", optional=True, names=("beta", "b", "shift")),
    ),
    options=(
        Option("training", False),
        Option("momentum", 0.1),
        Option("eps", 1e-5, ("eps", "epsilon"), (1e-5, 1e-3)),
    ),
    shape=shape,
    bounds=bounds,
    reference=reference,
    signature=("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
    words=("batch_norm", "batchnorm"),
)
