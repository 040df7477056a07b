"""attention: softmax(query·keyᵀ·scale)·value over the last two dims; is_causal hides the keys after the query.

Tolerance: sums of d products for the scores, softmax's own (the online form included), sums of k products for the
output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    q, k, v = inputs
    if min(map(len, inputs)) < 2 or q[-1] != k[-1] or k[-2] != v[-2] or not q[:-2] == k[:-2] == v[:-2]:
        raise DoesNotFit(f"attention of {q}, {k}, {v}")
    return [(*q[:-1], v[-1])]


def bounds(query: Interval, key: Interval, value: Interval, is_causal: bool, scale: float | None) -> Interval:
    from specs.reference_ops._interval import attention

    return attention(query, key, value, is_causal, scale)


OP = Op(
    name="scaled_dot_product_attention",
    callables=("torch.nn.functional.scaled_dot_product_attention",),
    inputs=(
        Operand("query", names=("q", "Q")),
        Operand("key", names=("k", "K")),
        Operand("value", names=("v", "V")),
    ),
    options=(Option("is_causal", False), Option("scale", None, ("scale", "softmax_scale"), (0.25, 0.125))),
    shape=shape,
    bounds=bounds,
    signature=("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"),
    words=("attention", "flash_attention", "flash_attn", "sdpa"),
)
