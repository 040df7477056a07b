"""What a reference op is: the data of one file ``specs/reference_ops/<op>.py``. Imports the standard library only.

An op file defines ``OP``, an :class:`Op`. It is found by folder and registered nowhere. ``shape`` runs in
the gate's process, without torch; ``bounds`` and ``reference`` run in the oracle's process and import torch themselves.

Invariant: ``bounds`` contains every value that a right kernel may compute (rounding included), and the float64
reference itself lies inside it.

Example::

    OP = Op("relu", ("torch.relu",), (Operand("input"),), pointwise, bounds=lambda input: input.maximum(0))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Shape = tuple[int, ...]
Value = float | int | bool | str | None | tuple[int, ...]
Options = Mapping[str, Value]


class DoesNotFit(ValueError):
    """Shapes or options that the op cannot take; the message says what does not fit."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor argument. ``optional``: may be left out. ``names``: what kernels call it, for telling operands apart.

    ``values``: real | positive | index. ``points``: values at which the op changes its rule (drawn with their
    neighbours). ``magnitude``: largest absolute value of the general domain.
    """

    name: str
    optional: bool = False
    names: tuple[str, ...] = ()
    values: Literal["real", "positive", "index"] = "real"
    points: tuple[float, ...] = (0.0,)
    magnitude: float = math.inf


@dataclass(frozen=True, slots=True)
class Option:
    """A keyword argument of the PyTorch callable. ``names``: scalar parameters of a kernel that carry it.

    ``draws``: values to try when the kernel takes it as a parameter. ``candidates``: values to try when neither the
    user nor a kernel parameter says it and the shapes decide (a ``dim``); empty: the default is taken.
    """

    name: str
    default: Value
    names: tuple[str, ...] = ()
    draws: tuple[float | int, ...] = ()
    candidates: Callable[[Sequence[Shape]], Sequence[Value]] | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """``shape(inputs, options)`` gives the output shapes or raises :class:`DoesNotFit`.

    ``bounds(*intervals, **options)`` gives an Interval (or a tuple of them). ``reference`` replaces the first callable
    where its positional signature differs. ``accepts(got, *inputs, **options)`` replaces the comparison
    (arg-reductions). ``flat``: only sizes matter (pointwise ops). ``ints``: also defined on integers, exactly.
    """

    name: str
    callables: tuple[str, ...]
    inputs: tuple[Operand, ...]
    shape: Callable[[Sequence[Shape], Options], Sequence[Shape]]
    bounds: Callable[..., Any]
    options: tuple[Option, ...] = ()
    reference: Callable[..., Any] | None = None
    accepts: Callable[..., Any] | None = None
    flat: bool = False
    ints: bool = False
    whole: bool = False
    """A tensor of unknown shape with one element of output is taken as flat (reductions of everything)."""
    output: Literal["float", "index", "same"] = "same"
    signature: tuple[str, ...] = ()
    """Positional order of the PyTorch callable's arguments, where it is not inputs, then options."""
    words: tuple[str, ...] = ()
    """Words in a kernel's name that suggest this op (suggested only, never assumed)."""

    def option(self, name: str) -> Option | None:
        return next((o for o in self.options if o.name == name), None)


def numel(shape: Shape) -> int:
    """Elements of a shape."""
    return math.prod(shape)


def pointwise(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    """All inputs have one shape, and so has the output."""
    if any(s != inputs[0] for s in inputs):
        raise DoesNotFit(f"pointwise inputs of different shapes {', '.join(map(str, inputs))}")
    return [inputs[0]]


def broadcast(inputs: Sequence[Shape], options: Options) -> Sequence[Shape]:
    """PyTorch's broadcasting of all inputs."""
    rank = max(len(s) for s in inputs)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in inputs]
    out = []
    for dims in zip(*padded, strict=True):
        sizes = {d for d in dims if d != 1}
        if len(sizes) > 1:
            raise DoesNotFit(f"shapes {', '.join(map(str, inputs))} do not broadcast")
        out.append(sizes.pop() if sizes else 1)
    return [tuple(out)]


def dims(inputs: Sequence[Shape]) -> Sequence[Value]:
    """Candidates for ``dim`` of an op that keeps the shape: the last one, as every framework's default says."""
    return [-1]


def reduction_dims(inputs: Sequence[Shape]) -> Sequence[Value]:
    """Candidates for ``dim`` of a reduction: all of the tensor, or one dim (the output's shape decides)."""
    return [None, *range(len(inputs[0]))] if len(inputs[0]) > 1 else [None]


def reductions(inputs: Sequence[Shape]) -> Sequence[Value]:
    """Candidates for ``reduction`` of a loss: the output's shape tells none from mean (sum must be said)."""
    return ["mean", "none"]


def reduced(shape: Shape, dim: Value) -> Shape:
    """The shape after reducing ``dim`` (None: everything)."""
    if dim is None:
        return ()
    chosen = dim if isinstance(dim, tuple) else (int(dim),)
    if any(not -len(shape) <= d < len(shape) for d in chosen):
        raise DoesNotFit(f"dim {dim} of a tensor of rank {len(shape)}")
    gone = {d % len(shape) for d in chosen}
    return tuple(n for i, n in enumerate(shape) if i not in gone)
