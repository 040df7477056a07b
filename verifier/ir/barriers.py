"""Where threads wait for each other: statements -> whether there is a barrier in them.

Example::

    contains_barrier(loop.body)
"""

from __future__ import annotations

from collections.abc import Iterable

from verifier.ir import nodes as ir


def contains_barrier(stmts: Iterable[ir.Stmt], grid: bool = False) -> bool:
    """Whether a barrier occurs. ``grid``: one of the whole grid."""
    for s in stmts:
        match s:
            case ir.Barrier(kind=kind) if kind == "grid" or not grid:
                return True
            case ir.BarrierReduce() if not grid:
                return True
            case ir.If(then=a, other=b):
                if contains_barrier(a, grid) or contains_barrier(b, grid):
                    return True
            case ir.Loop(head=h, body=b, step=st):
                if any(contains_barrier(p, grid) for p in (h, b, st)):
                    return True
            case ir.Scope(body=b):
                if contains_barrier(b, grid):
                    return True
    return False
