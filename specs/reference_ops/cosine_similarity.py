"""cosine_similarity: Σ a·b / (max(‖a‖, eps) · max(‖b‖, eps)) along dim.

Tolerance: (k + 2)·u·Σ|a·b| for the dot product, the norms' own, the roots and the division; the norms multiplied before
or after the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Options, Shape, Value, broadcast, reduced

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def last(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [-1]


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    return [reduced(tuple(broadcast(inputs, options)[0]), options["dim"])]


def bounds(x1: Interval, x2: Interval, dim: int, eps: float) -> Interval:
    from specs.reference_ops._interval import axes

    axis = axes(x1, dim)
    dot = (x1 * x2).sum(axis)
    a, b = x1.square().sum(axis), x2.square().sum(axis)
    apart = dot / (a.sqrt().maximum(eps) * b.sqrt().maximum(eps))
    joined = dot / (a.maximum(eps * eps) * b.maximum(eps * eps)).sqrt()
    return apart.hull(joined)


OP = Op(
    name="cosine_similarity",
    callables=(
        "torch.nn.functional.cosine_similarity",
        "torch.cosine_similarity",
        "torch.nn.CosineSimilarity",
    ),
    inputs=(Operand("x1", names=("a",)), Operand("x2", names=("b",))),
    options=(Option("dim", 1, candidates=last), Option("eps", 1e-8, ("eps",), (1e-8,))),
    shape=shape,
    bounds=bounds,
    words=("cosine_similarity", "cosine"),
)
