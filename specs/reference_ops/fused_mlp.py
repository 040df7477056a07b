"""fused_mlp(x) = (act(x·gateᵀ) · (x·upᵀ))·downᵀ, the gated feed-forward layer (SwiGLU). PyTorch has no such function.

``activation``: silu or gelu (exact). ``transposed``: the weights are in × out, as in ``x @ gate``; the shapes decide.

Tolerance: sums of k products for both projections, the activation's own, one product, and sums of h products of what these give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape, Value

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def ways(inputs: Sequence[Shape]) -> Sequence[Value]:
    return [False, True]


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    x, *weights = inputs
    if options["activation"] not in ("silu", "gelu"):
        raise DoesNotFit(f"fused_mlp with activation {options['activation']!r}; it is silu or gelu")
    if any(len(w) != 2 for w in weights) or not x:
        raise DoesNotFit(f"fused_mlp of {', '.join(map(str, inputs))}")
    gate, up, down = (w[::-1] if options["transposed"] else w for w in weights)
    if gate != up or gate[1] != x[-1] or down[1] != gate[0]:
        raise DoesNotFit(f"fused_mlp of {', '.join(map(str, inputs))}, transposed={options['transposed']}")
    return [(*x[:-1], down[0])]


def reference(
    input: Tensor, gate: Tensor, up: Tensor, down: Tensor, activation: str = "silu", transposed: bool = False
) -> Tensor:
    import torch.nn.functional as functional

    gate, up, down = ((w if transposed else w.mT) for w in (gate, up, down))
    act = functional.silu if activation == "silu" else functional.gelu
    y: Tensor = (act(input @ gate) * (input @ up)) @ down
    return y


def bounds(
    input: Interval, gate: Interval, up: Interval, down: Interval, activation: str, transposed: bool
) -> Interval:
    from specs.reference_ops import gelu, silu

    def product(a: Tensor, b: Tensor) -> Tensor:
        return a @ (b if transposed else b.mT)

    k = input.lo.shape[-1]
    opened: Interval = input.contract(gate, product, k)
    hidden = silu.bounds(opened) if activation == "silu" else gelu.bounds(opened, "none")
    hidden = hidden * input.contract(up, product, k)
    return hidden.contract(down, product, hidden.lo.shape[-1])


OP = Op(
    name="fused_mlp",
    callables=(),
    inputs=(
        Operand("input", names=("x", "inp", "in", "X")),
        Operand("gate", names=("w_gate", "gate_weight", "Wg", "wg", "w1")),
        Operand("up", names=("w_up", "up_weight", "Wu", "wu", "w3")),
        Operand("down", names=("w_down", "down_weight", "Wd", "wd", "w2")),
    ),
    options=(Option("activation", "silu"), Option("transposed", False, candidates=ways)),
    shape=shape,
    bounds=bounds,
    reference=reference,
    words=("fused_mlp", "swiglu", "gated_mlp"),
)
