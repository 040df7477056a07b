"""group_norm: each group of channels of each sample normalised to mean 0 and variance 1, then scaled by channel.

Tolerance: as for layer_norm, over the elements of a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x, groups = inputs[0], options["num_groups"]
    if len(x) < 2 or not isinstance(groups, int) or groups < 1 or x[1] % groups:
        raise DoesNotFit(f"group_norm of {x} with {groups} groups")
    if any(s != (x[1],) for s in inputs[1:]):
        raise DoesNotFit(f"group_norm of {', '.join(map(str, inputs))}")
    return [x]


def bounds(
    input: Interval,
    weight: Interval | None = None,
    bias: Interval | None = None,
    *,
    num_groups: int,
    eps: float,
) -> Interval:
    from specs.reference_ops._interval import channelwise, normalized

    size = input.lo.shape
    grouped = (size[0], num_groups, size[1] // num_groups, *size[2:])
    w, b = (channelwise(t, (1, *grouped[1:3]), len(grouped)) for t in (weight, bias))
    x = input.structural(lambda t: t.reshape(grouped))
    y = normalized(x, tuple(range(2, len(grouped))), eps, w, b)
    return y.structural(lambda t: t.reshape(size))


OP = Op(
    name="group_norm",
    callables=("torch.nn.functional.group_norm", "torch.group_norm", "torch.nn.GroupNorm"),
    inputs=(
        Operand("input", names=("x", "inp", "in")),
        Operand("weight", optional=True, names=("gamma", "w", "scale")),
        Operand("bias", optional=True, names=("beta", "b", "shift")),
    ),
    options=(
        Option("num_groups", 1, ("num_groups", "groups", "G", "g")),
        Option("eps", 1e-5, ("eps", "epsilon"), (1e-5, 1e-3)),
    ),
    shape=shape,
    bounds=bounds,
    signature=("input", "num_groups", "weight", "bias", "eps"),
    words=("group_norm", "groupnorm"),
)
