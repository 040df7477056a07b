"""conv1d: cross-correlation of (batch×)channels×length with out×in×k weights; a plain signal (n) with a filter (k) too.

padding is what the kernel's parameter says, or decided by the output's length: 0 (valid) or "same".
Tolerance: (c·k + 2)·u·Σ|x·w| for sums of c·k products in any order, and one rounding for the bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def paddings(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [0, "same"]


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x, w = inputs[:2]
    stride, padding, dilation, groups = (options[o] for o in ("stride", "padding", "dilation", "groups"))
    assert isinstance(stride, int) and isinstance(dilation, int) and isinstance(groups, int)
    if not x or not w or (len(w) == 1) != (len(x) == 1) or len(w) not in (1, 3) or len(x) > 3:
        raise DoesNotFit(f"conv1d of {x} with weights {w}")
    reach = dilation * (w[-1] - 1)
    if padding == "same":
        if stride != 1:
            raise DoesNotFit("conv1d with padding='same' needs stride 1")
        length = x[-1]
    else:
        assert isinstance(padding, int)
        length = (x[-1] + 2 * padding - reach - 1) // stride + 1 if x[-1] + 2 * padding > reach else 0
    if len(w) == 1:
        return [(length,)]
    if x[-2] != w[1] * groups or w[0] % groups or any(b != (w[0],) for b in inputs[2:]):
        raise DoesNotFit(f"conv1d of {', '.join(map(str, inputs))}")
    return [(*x[:-2], w[0], length)]


def reference(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: int,
    padding: Value,
    dilation: int,
    groups: int,
) -> Tensor:
    from torch.nn.functional import conv1d

    plain = weight.dim() == 1
    x, w = (input.reshape(1, 1, -1), weight.reshape(1, 1, -1)) if plain else (input, weight)
    y = conv1d(x, w, bias, stride, padding, dilation, groups)
    return y.reshape(-1) if plain else y


def bounds(
    input: Interval,
    weight: Interval,
    bias: Interval | None = None,
    *,
    stride: int,
    padding: Value,
    dilation: int,
    groups: int,
) -> Interval:
    def product(a: Tensor, b: Tensor) -> Tensor:
        return reference(a, b, stride=stride, padding=padding, dilation=dilation, groups=groups)

    k = weight.lo.shape[-1] * (weight.lo.shape[1] if weight.lo.dim() == 3 else 1)
    y: Interval = input.contract(weight, product, k + 1)
    if bias is None:
        return y
    b = bias.structural(lambda t: t.reshape(-1, 1))
    slack = b.abs() * (2.0 * input.fmt.unit * (k + 1))
    total: Interval = y + b + slack.hull(-slack)
    return total


OP = Op(
    name="conv1d",
    callables=("torch.nn.functional.conv1d", "torch.conv1d", "torch.nn.Conv1d"),
    inputs=(
        Operand("input", names=("x", "inp", "in", "signal")),
        Operand("weight", names=("w", "filter", "kernel", "mask", "taps")),
        Operand("bias", optional=True, names=("b",)),
    ),
    options=(
        Option("stride", 1, ("stride",)),
        Option("padding", 0, ("padding", "pad"), candidates=paddings),
        Option("dilation", 1, ("dilation",)),
        Option("groups", 1, ("groups",)),
    ),
    shape=shape,
    bounds=bounds,
    reference=reference,
    words=("conv1d", "conv_1d", "convolution_1d"),
)
