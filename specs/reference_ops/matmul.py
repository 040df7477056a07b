"""Matrix product A·B, plain (m×k, k×n) or batched (…×m×k, …×k×n).

Tolerance: (k + 2)·u·Σ|a·b| for sums of k products in any order, fused or not. TF32 and bf16 products lie outside for
small k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specs.reference_ops._spec import DoesNotFit, Op, Operand, Options, Shape

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def shape(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    a, b = inputs
    if len(a) < 2 or len(b) < 2:
        raise DoesNotFit(f"matmul of {a} and {b}: two matrices are needed")
    (m, k), (k2, n) = a[-2:], b[-2:]
    if k != k2 or (a[:-2] != b[:-2] and len(a) > 2 and len(b) > 2):
        raise DoesNotFit(f"matmul of {a} and {b}")
    return [(*(a[:-2] or b[:-2]), m, n)]


def product(input: Tensor, other: Tensor) -> Tensor:
    return input @ other


def bounds(input: Interval, other: Interval) -> Interval:
    return input.contract(other, product, input.lo.shape[-1])


OP = Op(
    name="matmul",
    callables=(
        "torch.matmul",
        "torch.mm",
        "torch.bmm",
        "torch.Tensor.matmul",
        "torch.Tensor.mm",
        "torch.Tensor.bmm",
        "torch.Tensor.__matmul__",
    ),
    inputs=(Operand("input", names=("a", "A", "lhs", "x")), Operand("other", names=("b", "B", "rhs", "y"))),
    shape=shape,
    bounds=bounds,
    reference=product,
    words=("matmul", "gemm", "mm"),
)
