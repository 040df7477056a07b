"""instance_norm: each channel of each sample normalised to mean 0 and variance 1.

Tolerance: as for layer_norm, over the elements of a channel of a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x = inputs[0]
    if len(x) < 3 or any(s != (x[1],) for s in inputs[1:]):
        raise DoesNotFit(f"instance_norm of {', '.join(map(str, inputs))}")
    return [x]


def bounds(
    input: Interval, weight: Interval | None = None, bias: Interval | None = None, *, eps: float
) -> Interval:
    from specs.reference_ops._interval import channelwise, normalized

    rank = input.lo.dim()
    w, b = (channelwise(t, (1, input.lo.shape[1]), rank) for t in (weight, bias))
    return normalized(input, tuple(range(2, rank)), eps, w, b)


OP = Op(
    name="instance_norm",
    callables=(
        "torch.nn.functional.instance_norm",
        "torch.nn.InstanceNorm1d",
        "torch.nn.InstanceNorm2d",
        "torch.nn.InstanceNorm3d",
    ),
    inputs=(
        Operand("input", names=("x", "inp", "in")),
        Operand("weight", optional=True, names=("gamma", "w", "scale")),
        Operand("bias", optional=True, names=("beta", "b", "shift")),
    ),
    options=(Option("eps", 1e-5, ("eps", "epsilon"), (1e-5, 1e-3)),),
    shape=shape,
    bounds=bounds,
    signature=(
        "input",
        "running_mean",
        "running_var",
        "weight",
        "bias",
        "use_input_stats",
        "momentum",
        "eps",
    ),
    words=("instance_norm", "instancenorm"),
)
