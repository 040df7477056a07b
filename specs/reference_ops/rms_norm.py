"""rms_norm(x) = x / sqrt(mean(x²) + eps) · weight over the last dim.

eps defaults to float32's machine epsilon as in PyTorch; a kernel that writes 1e-6 needs ``rms_norm(x, eps=1e-6)``.
Tolerance: k·u·Σx²/k for the mean, 3 ulp for the root, the products.
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
        raise DoesNotFit(f"rms_norm of {x} with weights {', '.join(map(str, inputs[1:])) or 'of none'}")
    return [x]


def bounds(
    input: Interval, weight: Interval | None = None, *, normalized_shape: tuple[int, ...], eps: float
) -> Interval:
    from specs.reference_ops._interval import axes, mean

    axis = axes(input, tuple(range(-len(normalized_shape), 0)))
    power = mean(input.square(), axis, keepdim=True) + eps
    y = (input * power.rsqrt()).hull(input / power.sqrt())
    return y if weight is None else (y * weight).hull(input * weight * power.rsqrt())


OP = Op(
    name="rms_norm",
    callables=("torch.nn.functional.rms_norm", "torch.rms_norm", "torch.nn.RMSNorm"),
    inputs=(
        Operand("input", names=("x", "inp", "in", "X")),
        Operand("weight", optional=True, names=("gamma", "w", "scale", "g")),
    ),
    options=(
        Option("normalized_shape", None, candidates=last_dim),
        Option("eps", 1.1920928955078125e-07, ("eps", "epsilon"), (1e-5, 1e-3)),
    ),
    shape=shape,
    signature=("input", "normalized_shape", "weight", "eps"),
    bounds=bounds,
    words=("rmsnorm", "rms_norm"),
)
