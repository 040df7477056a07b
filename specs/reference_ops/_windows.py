"""Convolutions and pooling of one, two and three dims: what their op files share. ``convolution(2)`` -> Op.

Sizes, strides and paddings are what the kernel's integer parameters say, or decided by the output's shape.
Imports torch only inside the functions that run in the oracle's process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval

_X = ("x", "inp", "in", "signal", "image")
_W = ("w", "filter", "kernel", "mask", "taps", "weights")


def each(value: Value, n: int) -> tuple[int, ...]:
    """One number for all dims, or one a dim."""
    if isinstance(value, tuple):
        if len(value) != n:
            raise DoesNotFit(f"{value} for {n} dims")
        return value
    if not isinstance(value, int):
        raise DoesNotFit(f"{value!r} is not a size")
    return (value,) * n


def _paddings(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [0, "same"]


def convolution(n: int, words: tuple[str, ...]) -> Op:
    """convNd; also one filter of n dims (no channels) on the last n dims of anything."""
    name = f"conv{n}d"

    def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
        x, w = inputs[:2]
        plain = len(w) == n and len(x) >= n
        if not plain and (len(w) != n + 2 or len(x) not in (n + 1, n + 2)):
            raise DoesNotFit(f"{name} of {x} with weights {w}")
        stride, dilation = each(options["stride"], n), each(options["dilation"], n)
        out = []
        for i in range(n):
            size, reach = x[len(x) - n + i], dilation[i] * (w[len(w) - n + i] - 1)
            if options["padding"] == "same":
                if stride[i] != 1:
                    raise DoesNotFit(f"{name} with padding='same' needs stride 1")
                out.append(size)
            else:
                room = size + 2 * each(options["padding"], n)[i] - reach
                out.append((room - 1) // stride[i] + 1 if room > 0 else 0)
        if plain:
            return [(*x[: len(x) - n], *out)]
        groups = options["groups"]
        assert isinstance(groups, int)
        if x[-n - 1] != w[1] * groups or w[0] % groups or any(b != (w[0],) for b in inputs[2:]):
            raise DoesNotFit(f"{name} of {', '.join(map(str, inputs))} with groups {groups}")
        return [(*x[: len(x) - n - 1], w[0], *out)]

    def reference(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
        import torch.nn.functional as functional

        plain = weight.dim() == n
        lead, last = input.shape[: input.dim() - n], input.shape[input.dim() - n :]
        x, w = (input.reshape(-1, 1, *last), weight[None, None]) if plain else (input, weight)
        y: Tensor = getattr(functional, name)(x, w, bias, **options)
        return y.reshape(*lead, *y.shape[2:]) if plain else y

    def bounds(input: Interval, weight: Interval, bias: Interval | None = None, **options: Any) -> Interval:
        k = weight.lo[0].numel() if weight.lo.dim() > n else weight.lo.numel()
        y = input.contract(weight, lambda a, b: reference(a, b, **options), k + 1)
        return _biased(y, bias, n, k)

    return Op(
        name=name,
        callables=(f"torch.nn.functional.{name}", f"torch.{name}", f"torch.nn.Conv{n}d"),
        inputs=(Operand("input", names=_X), Operand("weight", names=_W), Operand("bias", True, names=("b",))),
        options=(
            Option("stride", 1, ("stride",)),
            Option("padding", 0, ("padding", "pad"), candidates=_paddings),
            Option("dilation", 1, ("dilation",)),
            Option("groups", 1, ("groups",)),
        ),
        shape=shape,
        bounds=bounds,
        reference=reference,
        words=words,
    )


def _biased(y: Interval, bias: Interval | None, n: int, k: int) -> Interval:
    """The bias added last, or as the accumulator's first value (then every rounding is of a sum that holds it)."""
    if bias is None:
        return y
    b = bias.structural(lambda t: t.reshape(-1, *(1,) * n))
    slack = b.abs() * (2.0 * y.fmt.unit * (k + 1))
    return y + b + slack.hull(-slack)


def transposed_convolution(n: int, words: tuple[str, ...]) -> Op:
    """conv_transposeNd: weights are in × out/groups × k…"""
    name = f"conv_transpose{n}d"

    def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
        x, w = inputs[:2]
        groups = options["groups"]
        assert isinstance(groups, int)
        if len(w) != n + 2 or len(x) not in (n + 1, n + 2) or x[-n - 1] != w[0]:
            raise DoesNotFit(f"{name} of {x} with weights {w}")
        stride, padding, extra, dilation = (
            each(options[o], n) for o in ("stride", "padding", "output_padding", "dilation")
        )
        out = [
            (x[len(x) - n + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (w[2 + i] - 1) + extra[i] + 1
            for i in range(n)
        ]
        if min(out) < 1 or any(b != (w[1] * groups,) for b in inputs[2:]):
            raise DoesNotFit(f"{name} of {', '.join(map(str, inputs))}")
        return [(*x[: len(x) - n - 1], w[1] * groups, *out)]

    def reference(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
        import torch.nn.functional as functional

        y: Tensor = getattr(functional, name)(input, weight, bias, **options)
        return y

    def bounds(input: Interval, weight: Interval, bias: Interval | None = None, **options: Any) -> Interval:
        k = weight.lo.shape[0] * weight.lo[0, 0].numel()
        y = input.contract(weight, lambda a, b: reference(a, b, **options), k + 1)
        return _biased(y, bias, n, k)

    return Op(
        name=name,
        callables=(f"torch.nn.functional.{name}", f"torch.{name}", f"torch.nn.ConvTranspose{n}d"),
        inputs=(Operand("input", names=_X), Operand("weight", names=_W), Operand("bias", True, names=("b",))),
        options=(
            Option("stride", 1, ("stride",)),
            Option("padding", 0, ("padding", "pad")),
            Option("output_padding", 0, ("output_padding",)),
            Option("groups", 1, ("groups",)),
            Option("dilation", 1, ("dilation",)),
        ),
        shape=shape,
        bounds=bounds,
        reference=reference,
        words=words,
    )


def _sizes(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [2, 3, 4, 5]


def pooling(n: int, kind: str, words: tuple[str, ...]) -> Op:
    """max_poolNd and avg_poolNd over the last n dims."""
    name = f"{kind}_pool{n}d"
    maximum = kind == "max"

    def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
        x = inputs[0]
        if len(x) < n:
            raise DoesNotFit(f"{name} of {x}")
        size, padding = each(options["kernel_size"], n), each(options["padding"], n)
        stride = size if options["stride"] is None else each(options["stride"], n)
        dilation = each(options["dilation"], n) if maximum else (1,) * n
        out = []
        for i in range(n):
            reach = dilation[i] * (size[i] - 1) + 1
            if size[i] < 1 or stride[i] < 1 or not 0 <= padding[i] <= size[i] // 2:
                raise DoesNotFit(f"{name} with kernel_size {size}, stride {stride}, padding {padding}")
            room = x[len(x) - n + i] + 2 * padding[i] - reach
            if room < 0:
                raise DoesNotFit(f"{name}: a window of {reach} on {x[len(x) - n + i]} elements")
            out.append(room // stride[i] + 1)
        return [(*x[: len(x) - n], *out)]

    def reference(input: Tensor, **options: Any) -> Tensor:
        import torch.nn.functional as functional

        flat = input.reshape(1, -1, *input.shape[input.dim() - n :])
        y: Tensor = getattr(functional, name)(flat, **options)
        return y.reshape(*input.shape[: input.dim() - n], *y.shape[2:])

    def bounds(input: Interval, **options: Any) -> Interval:
        from specs.reference_ops._interval import Interval, averaged

        pooled: Callable[[Tensor], Tensor] = lambda t: reference(t, **options)  # noqa: E731
        if maximum:
            return Interval(pooled(input.lo), pooled(input.hi), pooled(input.nan.double()) > 0, input.fmt)
        size = each(options["kernel_size"], n)
        count = 1
        for s in size:
            count *= s
        return averaged(input, pooled, count)

    last = Option("dilation", 1, ("dilation",)) if maximum else Option("count_include_pad", True)
    return Op(
        name=name,
        callables=(
            f"torch.nn.functional.{name}",
            *((f"torch.{name}",) if maximum or n == 1 else ()),
            f"torch.nn.{kind.capitalize()}Pool{n}d",
        ),
        inputs=(Operand("input", names=_X),),
        options=(
            Option(
                "kernel_size",
                2,
                ("kernel_size", "kernel", "k", "ksize", "pool_size", "window"),
                candidates=_sizes,
            ),
            Option("stride", None, ("stride", "s")),
            Option("padding", 0, ("padding", "pad", "p")),
            last,
        ),
        shape=shape,
        bounds=bounds,
        reference=reference,
        signature=(
            ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
            if maximum
            else (
                "input",
                "kernel_size",
                "stride",
                "padding",
                "ceil_mode",
                "count_include_pad",
                "divisor_override",
            )
        ),
        words=words,
    )
