"""axpy: y ← alpha · x + y (BLAS saxpy/daxpy). PyTorch says it ``torch.add(y, x, alpha=alpha)``.

The kernel's order is x, then y, and y is read and written. Named ``axpy``, ``saxpy`` or ``daxpy``.
Tolerance: one rounding of the product and one of the sum (fused or not).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specs.reference_ops._spec import Op, Operand, Option, Value, pointwise

if TYPE_CHECKING:
    from torch import Tensor

    from specs.reference_ops._interval import Interval


def bounds(x: Interval, y: Interval, alpha: float) -> Interval:
    return alpha * x + y


def reference(x: Tensor, y: Tensor, alpha: Value) -> Tensor:
    import torch

    return torch.add(y, x, alpha=alpha)


OP = Op(
    name="axpy",
    callables=("saxpy", "daxpy", "scipy.linalg.blas.saxpy"),
    inputs=(Operand("x"), Operand("y")),
    options=(Option("alpha", 1.0, ("alpha", "a"), (2.0, -0.5, 0.1)),),
    shape=pointwise,
    bounds=bounds,
    reference=reference,
    flat=True,
    words=("axpy",),
)
