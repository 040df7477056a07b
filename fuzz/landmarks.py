"""Numbers at which a kernel may change its rule: the floating-point constants of its text. ir.Kernel -> values.

A branch on ``x > 1000.0f`` is entered only by data above 1000, which no general kind of values is sure to hold; values
at the constants and on both sides of them are. Invariant: finite, distinct, at most ``MOST``, the same for the same text.

Example::

    landmarks(kernel)      # (20.0, 0.5)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from verifier.ir import nodes as ir

MOST = 16
_LARGEST = 1e30


def landmarks(*kernels: ir.Kernel) -> tuple[float, ...]:
    """Constants that are compared first, then the others."""
    compared: dict[float, None] = {}
    others: dict[float, None] = {}
    for kernel in kernels:
        for value, inside in _constants(kernel.body, False):
            if math.isfinite(value) and 0.0 < abs(value) <= _LARGEST:
                (compared if inside else others).setdefault(value)
    return tuple({**compared, **others})[:MOST]


def _constants(node: object, inside: bool) -> Iterator[tuple[float, bool]]:
    if isinstance(node, ir.FloatConst):
        yield node.value, inside
    elif isinstance(node, tuple):
        for item in node:
            yield from _constants(item, inside)
    elif dataclasses.is_dataclass(node) and not isinstance(node, ir.Kernel):
        inside = inside or isinstance(node, ir.Compare)
        for field in dataclasses.fields(node):
            yield from _constants(getattr(node, field.name), inside)
