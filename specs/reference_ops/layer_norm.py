"""layer_norm(x) = (x - mean) / sqrt(var + eps) · weight + bias over the last dims.

Tolerance: the rounding of the two-pass formula, of the one-pass variance E[x²] - E[x]² (an error of k·u·E[x²]: where
that is not small against var + eps, hardly anything is checked, so data with a large mean tell little), of 1/sqrt
against rsqrt, and of the folded form x·s + (bias - mean·s).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value

if TYPE_CHECKING:
    from specs.reference_ops._interval import Interval


def last_dim(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [inputs[1] if len(inputs) > 1 else inputs[0][-1:]]


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    normalized = options["normalized_shape"]
    assert isinstance(normalized, tuple)
    x = inputs[0]
    if (
        not normalized
        or x[len(x) - len(normalized) :] != normalized
        or any(s != normalized for s in inputs[1:])
    ):
        raise DoesNotFit(f"layer_norm of {x} with weights {', '.join(map(str, inputs[1:])) or 'of none'}")
    return [x]


def bounds(
    input: Interval,
    weight: Interval | None = None,
    bias: Interval | None = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float,
) -> Interval:
    from specs.reference_ops._interval import normalized

    return normalized(input, range(-len(normalized_shape), 0), eps, weight, bias)


OP = Op(
    name="layer_norm",
    callables=("torch.nn.functional.layer_norm", "torch.layer_norm", "torch.nn.LayerNorm"),
    inputs=(
        Operand("input", names=("x", "inp", "in", "X")),
        Operand("weight", optional=True, names=("gamma", "w", "scale", "g")),
        Operand("bias", optional=True, names=("beta", "b", "shift")),
    ),
    options=(
        Option("normalized_shape", None, candidates=last_dim),
        Option("eps", 1e-5, ("eps", "epsilon"), (1e-5, 1e-3)),
    ),
    shape=shape,
    signature=("input", "normalized_shape", "weight", "bias", "eps"),
    bounds=bounds,
    words=("layernorm", "layer_norm"),
)
