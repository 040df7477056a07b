"""Where a pointer starts inside its memory: elements from there to the end, in clause text.

Example: ``x + from`` of ``x`` with ``n`` elements has ``n - from``, and none where ``from`` is negative.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from verifier.contracts.values import PY, Int, arith, const


def rest(extent: str, offset: Int, size: int, positive: Collection[str]) -> tuple[str, str]:
    """(elements of ``size`` bytes from ``offset`` on, of ``extent`` in all; why that is not known).

    ``positive``: names that are known not to be negative.
    """
    step = arith("/", offset, const(size, PY), PY)
    if step is None or not _multiple(ast.parse(offset.text, mode="eval").body, size):
        return extent, "it does not start at one of its elements"
    if offset.hi is not None and offset.hi < 0:
        return extent, "it starts before its memory"
    left = f"({extent} - {step.text})"
    if (offset.lo is None or offset.lo < 0) and not _positive(
        ast.parse(step.text, mode="eval").body, positive
    ):
        left = f"({left} if {step.text} >= 0 else 0)"
    return left, ""


def not_negative(clause: str) -> str:
    """The name that a clause says not to be negative."""
    found = re.fullmatch(r"\(?(?:0 <=? (\w+)|(\w+) >=? 0)\)?", clause)
    return (found[1] or found[2]) if found else ""


def _positive(node: ast.expr, names: Collection[str]) -> bool:
    match node:
        case ast.Constant(value=int(value)):
            return value >= 0
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.FloorDiv(), right=right):
            return _positive(left, names) and _positive(right, names)
    return False


def _multiple(node: ast.expr, size: int) -> bool:
    """Whether a term is a multiple of a number, by its form."""
    match node:
        case ast.Constant(value=int(value)):
            return value % size == 0
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _multiple(inner, size)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _multiple(left, size) and _multiple(right, size)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _factor(left) * _factor(right) % size == 0
        case ast.IfExp(body=body, orelse=orelse):
            return _multiple(body, size) and _multiple(orelse, size)
    return size == 1


def _factor(node: ast.expr) -> int:
    """A number that divides a term, by its form."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _factor(left) * _factor(right)
    return next((size for size in (16, 8, 4, 2) if _multiple(node, size)), 1)
