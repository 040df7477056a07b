"""Aᵀ·B for A of k×m and B of k×n, plain or batched.

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
        raise DoesNotFit(f"matmul_tn of {a} and {b}: two matrices are needed")
    (m, k), (k2, n) = a[-2:][::-1], b[-2:]
    if k != k2 or (a[:-2] != b[:-2] and len(a) > 2 and len(b) > 2):
        raise DoesNotFit(f"matmul_tn of {a} and {b}")
    return [(*(a[:-2] or b[:-2]), m, n)]


def product(input: Tensor, other: Tensor) -> Tensor:
    return input.mT @ other


def bounds(input: Interval, other: Interval) -> Interval:
    return input.contract(other, product, input.lo.shape[-2])


OP = Op(
    name="matmul_tn",
    callables=(),
    inputs=(Operand("input", names=("a", "A", "lhs", "x")), Operand("other", names=("b", "B", "rhs", "y"))),
    shape=shape,
    bounds=bounds,
    reference=product,
    words=("matmul_tn", "gemm_tn"),
)
