"""einsum of two tensors: a sum of products over the letters that the output does not have.

Tolerance: (k + 2)·u·Σ|a·b| where k is the product of the sizes of the summed letters. Only as part of an expression or
a model (the equation must be said): ``torch.einsum('bij,jk->bik', a, b)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Option, Options, Shape

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def _letters(equation: object, inputs: Sequence[Shape]) -> tuple[list[str], str, dict[str, int]]:
    left, arrow, right = str(equation).replace(" ", "").partition("->")
    parts = left.split(",")
    if not arrow or len(parts) != len(inputs) or not all(p.isalpha() for p in parts):
        raise DoesNotFit(f"einsum {equation!r} of {', '.join(map(str, inputs))}")
    sizes: dict[str, int] = {}
    for part, shape in zip(parts, inputs, strict=True):
        if len(part) != len(shape) or any(
            sizes.setdefault(c, n) != n for c, n in zip(part, shape, strict=True)
        ):
            raise DoesNotFit(f"einsum {equation!r} of {', '.join(map(str, inputs))}")
    return parts, right, sizes


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    _, right, sizes = _letters(options["equation"], inputs)
    return [tuple(sizes[c] for c in right)]


def bounds(input: Interval, other: Interval, equation: str) -> Interval:
    from torch import einsum

    shapes = [tuple(t.lo.shape) for t in (input, other)]
    _, right, sizes = _letters(equation, shapes)
    k = math.prod(n for c, n in sizes.items() if c not in right)

    def product(a: Tensor, b: Tensor) -> Tensor:
        return einsum(equation, a, b)

    return input.contract(other, product, k)


def reference(input: Tensor, other: Tensor, equation: str) -> Tensor:
    from torch import einsum

    return einsum(equation, input, other)


OP = Op(
    name="einsum",
    callables=("torch.einsum", "torch.functional.einsum"),
    inputs=(Operand("input", names=("a", "A")), Operand("other", names=("b", "B"))),
    options=(Option("equation", ""),),
    shape=shape,
    bounds=bounds,
    reference=reference,
    signature=("equation", "input", "other"),
)
