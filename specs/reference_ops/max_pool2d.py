"""max_pool2d: the largest element of each window of the last two dims.

kernel_size, stride and padding are what the kernel's parameters say, or decided by the output's shape.
Tolerance: none; the result is one of the elements (padding never wins).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def windows(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [2, 3, 4, 5]


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x = inputs[0]
    size, padding, dilation = (options[o] for o in ("kernel_size", "padding", "dilation"))
    stride = size if options["stride"] is None else options["stride"]
    if len(x) < 2 or not all(isinstance(v, int) for v in (size, padding, dilation, stride)):
        raise DoesNotFit(f"max_pool2d of {x} with {dict(options)}")
    assert (
        isinstance(size, int)
        and isinstance(padding, int)
        and isinstance(dilation, int)
        and isinstance(stride, int)
    )
    if size < 1 or stride < 1 or padding > size // 2:
        raise DoesNotFit(f"max_pool2d with kernel_size {size}, stride {stride}, padding {padding}")
    reach = dilation * (size - 1) + 1
    out = [(n + 2 * padding - reach) // stride + 1 for n in x[-2:]]
    if min(out) < 1:
        raise DoesNotFit(f"max_pool2d: a window of {reach} on {x[-2:]}")
    return [(*x[:-2], *out)]


def reference(input: Tensor, kernel_size: int, stride: int | None, padding: int, dilation: int) -> Tensor:
    from torch.nn.functional import max_pool2d

    flat = input.reshape(1, -1, *input.shape[-2:])
    out = max_pool2d(flat, kernel_size, stride, padding, dilation)
    return out.reshape(*input.shape[:-2], *out.shape[-2:])


def bounds(input: Interval, kernel_size: int, stride: int | None, padding: int, dilation: int) -> Interval:
    def pooled(t: Tensor) -> Tensor:
        return reference(t, kernel_size, stride, padding, dilation)

    return type(input)(pooled(input.lo), pooled(input.hi), pooled(input.nan.double()) > 0, input.fmt)


OP = Op(
    name="max_pool2d",
    callables=("torch.nn.functional.max_pool2d", "torch.max_pool2d", "torch.nn.MaxPool2d"),
    inputs=(Operand("input"),),
    options=(
        Option(
            "kernel_size",
            2,
            ("kernel_size", "kernel", "k", "ksize", "pool_size", "window"),
            candidates=windows,
        ),
        Option("stride", None, ("stride", "s")),
        Option("padding", 0, ("padding", "pad", "p")),
        Option("dilation", 1, ("dilation", "d")),
    ),
    shape=shape,
    signature=("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    bounds=bounds,
    reference=reference,
    words=("max_pool2d", "maxpool2d", "maxpool", "max_pool"),
)
