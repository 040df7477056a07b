"""Where a kernel may change its rule: the floating-point constants of its text, and branches on data. ir.Kernel -> values.

A branch on ``x > 1000.0f`` is entered only by data above 1000, which no general kind of values is sure to hold; values
at the constants and on both sides of them are. Invariant: finite, distinct, at most ``MOST``, the same for the same text.

Example::

    landmarks(kernel)      # (20.0, 0.5)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import get_args

from verifier.ir import nodes as ir

MOST = 16
_LARGEST = 1e30
_STATEMENTS = get_args(ir.Stmt)


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


def branches_on_data(kernel: ir.Kernel) -> bool:
    """Whether some condition looks at what was loaded, through any assignments."""
    loaded: set[str] = set()
    statements = list(_statements(kernel.body))
    for _ in range(len(statements) + 1):
        before = len(loaded)
        for statement in statements:
            match statement:
                case ir.Load(var=var, parts=parts):
                    loaded |= {var, *(name for name, _ in parts)}
                case ir.Atomic(var=var) | ir.WarpOp(var=var):
                    loaded.add(var)
                case ir.Assign(var=var, value=value) if loaded & set(_reads(value)):
                    loaded.add(var)
                case _:
                    pass
        if len(loaded) == before:
            break
    return any(isinstance(s, ir.If) and loaded & set(_reads(s.cond)) for s in statements)


def _statements(node: object) -> Iterator[ir.Stmt]:
    if isinstance(node, tuple):
        for item in node:
            yield from _statements(item)
    elif isinstance(node, _STATEMENTS):
        yield node
        for field in dataclasses.fields(node):
            yield from _statements(getattr(node, field.name))


def _reads(node: object) -> Iterator[str]:
    if isinstance(node, ir.Read):
        yield node.name
    elif isinstance(node, tuple):
        for item in node:
            yield from _reads(item)
    elif dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            yield from _reads(getattr(node, field.name))
