"""rotary_embedding(x, cos, sin) = x·cos + turned(x)·sin over the last dim, where turned(x) is (-x₂, x₁) of its two halves.

``interleaved``: neighbours (x₀, x₁), (x₂, x₃), … are the pairs instead. The tables have a row for each position, of the last
dim's size or half of it (then each pair has one number); ``dim`` is the positions' dim of x. PyTorch has no such function.

Tolerance: two products, rounded or fused, and one sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def places(inputs: Sequence[Shape]) -> Sequence[Value]:
    """Candidates for ``dim``: before the last dim, or before the heads."""
    return [-2, -3] if len(inputs[0]) > 2 else [-2]


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x, cos, sin = inputs
    dim = options["dim"]
    assert isinstance(dim, int)
    if len(x) < -dim or x[-1] % 2 or cos != sin or len(cos) != 2:
        raise DoesNotFit(f"rotary_embedding of {x} with tables {cos} and {sin}")
    if cos[0] != x[dim] or cos[1] not in (x[-1], x[-1] // 2):
        raise DoesNotFit(f"rotary_embedding of {x} with tables {cos}")
    return [x]


def table(t: Tensor, x: Tensor, interleaved: bool, dim: int) -> Tensor:
    """Shaped to be multiplied with x."""
    import torch

    if t.shape[-1] != x.shape[-1]:
        t = t.repeat_interleave(2, -1) if interleaved else torch.cat([t, t], -1)
    return t.reshape(t.shape[0], *(1,) * (-dim - 2), t.shape[-1])


def turned(x: Tensor, interleaved: bool, sign: float) -> Tensor:
    import torch

    if interleaved:
        pairs = x.unflatten(-1, (-1, 2))
        return torch.stack([sign * pairs[..., 1], pairs[..., 0]], -1).flatten(-2)
    half = x.shape[-1] // 2
    return torch.cat([sign * x[..., half:], x[..., :half]], -1)


def reference(input: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False, dim: int = -2) -> Tensor:
    c, s = (table(t, input, interleaved, dim) for t in (cos, sin))
    return input * c + turned(input, interleaved, -1.0) * s


def bounds(input: Interval, cos: Interval, sin: Interval, interleaved: bool, dim: int) -> Interval:
    from specs.reference_ops._interval import Interval

    c, s = (t.structural(lambda e: table(e, input.lo, interleaved, dim)) for t in (cos, sin))
    ends = turned(input.lo, interleaved, -1.0), turned(input.hi, interleaved, -1.0)
    nan = turned(input.nan.double(), interleaved, 1.0) > 0
    other = Interval(ends[0].minimum(ends[1]), ends[0].maximum(ends[1]), nan, input.fmt)
    return input * c + other * s


OP = Op(
    name="rotary_embedding",
    callables=(),
    inputs=(
        Operand("input", names=("x", "q", "k", "query", "key", "inp", "in")),
        Operand("cos", names=("cos", "cosine", "cos_table", "cos_cache")),
        Operand("sin", names=("sin", "sine", "sin_table", "sin_cache")),
    ),
    options=(Option("interleaved", False), Option("dim", -2, candidates=places)),
    shape=shape,
    bounds=bounds,
    reference=reference,
    words=("rotary", "rope", "rotary_embedding"),
)
