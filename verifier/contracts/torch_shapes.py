"""The dims that products and reductions of torch give.

Invariant: None where they are not certain; where torch would throw, any answer is right.

Example: ``x.sum(-1, keepdim=True)`` of ``(n, m)`` has the dims ``(n, 1)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from verifier.contracts.objects import Tensor, Value
from verifier.contracts.run import Run
from verifier.contracts.tensors import dims_of, int_list
from verifier.contracts.values import FALSE, Bool, Int, const

Handler = Callable[[Run, Sequence[Value], Mapping[str, Value]], "tuple[Int, ...] | None"]


def _matmul(run: Run, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[Int, ...] | None:
    a, b = (dims_of(run, t) if isinstance(t, Tensor) else None for t in args[:2])
    if a is None or b is None or len(a) < 2 or len(b) < 2 or len(a) != len(b):
        if a is not None and b is not None and len(b) == 2 and len(a) >= 2:
            return (*a[:-1], b[-1])
        return None
    if any(x.text != y.text for x, y in zip(a[:-2], b[:-2], strict=True)):
        return None
    return (*a[:-1], b[-1])


def _linear(run: Run, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[Int, ...] | None:
    a, b = (dims_of(run, t) if isinstance(t, Tensor) else None for t in args[:2])
    return None if a is None or b is None or len(b) != 2 else (*a[:-1], b[0])


def _reduction(run: Run, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[Int, ...] | None:
    """sum, mean, amax …: all dims, one dim or several; ``keepdim``."""
    tensor = args[0]
    dims = dims_of(run, tensor) if isinstance(tensor, Tensor) else None
    if dims == ():
        return None
    which = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if which is None:
        return ()
    keep = kwargs.get("keepdim", args[2] if len(args) > 2 else FALSE)
    at = int_list([which])
    if (
        dims is None
        or not at  # no dims at all are all of them
        or any(i.value is None for i in at)
        or not isinstance(keep, Bool)
        or keep.value is None
    ):
        return None
    if len(args) > 2 and not isinstance(args[2], Bool):
        return None
    gone = {i.value % len(dims) for i in at if i.value is not None}
    return tuple(const(1) if i in gone else d for i, d in enumerate(dims) if i not in gone or keep.value)


SHAPES: dict[str, Handler] = {
    "matmul": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "linear": _linear,
    "sum": _reduction,
    "mean": _reduction,
    "prod": _reduction,
    "amax": _reduction,
    "amin": _reduction,
    "logsumexp": _reduction,
}

NAMED: dict[str, frozenset[str]] = {
    "matmul": frozenset(),
    "mm": frozenset(),
    "bmm": frozenset(),
    "linear": frozenset({"bias"}),
}
REDUCED_BY = frozenset({"dim", "keepdim", "dtype"})
"""Keyword arguments that are read."""
