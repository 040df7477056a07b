"""What the shape of a buffer may be: contract, parameter -> readings, each a tuple of clause texts.

A shape that the contract states is the only reading. An extent that is a product of dims says which dims there are but
not their order, so each order is a reading, the written one first. A bare extent is a vector where the contract is a
person's or where it is a dim of another buffer; else its rank is not known, and a vector is one reading of many.

Example::

    readings(contract, "x")     # extent "rows * cols": (("rows", "cols"), ("cols", "rows"))
    complete(contract, "x")     # True: there is no other
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping

from specs import clauses
from specs.contract import Buffer, Contract
from specs.reference_ops import Shape

MOST_FACTORS = 4
Texts = tuple[str, ...]


def known(contract: Contract, param: str) -> bool:
    """Whether there is only one reading."""
    return complete(contract, param) and len(readings(contract, param)) == 1


def complete(contract: Contract, param: str) -> bool:
    """Whether the readings are all there may be."""
    buffer = contract.buffer(param)
    assert buffer is not None
    factors = _extent_factors(contract, buffer)
    if (
        buffer.shape
        or contract.origin == "stated"
        or len(factors) > 1
        or isinstance(factors[0], ast.Constant)
    ):
        return len(factors) <= MOST_FACTORS
    texts = {ast.unparse(f) for b in contract.buffers for f in _dims(contract, b)}
    return ast.unparse(factors[0]) in texts


def readings(contract: Contract, param: str) -> tuple[Texts, ...]:
    """The shapes that the buffer may have."""
    buffer = contract.buffer(param)
    assert buffer is not None
    if buffer.shape:
        return (buffer.shape,)
    texts = tuple(ast.unparse(f) for f in _extent_factors(contract, buffer))
    return tuple(dict.fromkeys(itertools.permutations(texts))) if len(texts) <= MOST_FACTORS else (texts,)


def _extent_factors(contract: Contract, buffer: Buffer) -> list[ast.expr]:
    factors = _factors(clauses.parse(buffer.extent))
    return factors if len(factors) > 1 else _equal_product(contract, buffer) or factors


def _dims(contract: Contract, buffer: Buffer) -> list[ast.expr]:
    """Dims of a buffer that has more than one."""
    if buffer.shape:
        return [_bare(clauses.parse(t)) for t in buffer.shape] if len(buffer.shape) > 1 else []
    factors = _extent_factors(contract, buffer)
    return factors if len(factors) > 1 else []


def _bare(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in clauses.INT_TYPES:
            return _bare(inner)
    return node


def sizes_of(texts: Texts, symbols: Mapping[str, int]) -> Shape:
    """The shape in numbers."""
    return tuple(clauses.evaluate(t, symbols) for t in texts)


def _factors(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            return [*_factors(a), *_factors(b)]
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in clauses.INT_TYPES:
            return _factors(inner)
        case ast.BinOp(left=a, op=ast.FloorDiv(), right=ast.Constant(value=size)):
            parts = _factors(a)  # bytes by the element's size: u64(n * 4) // 4
            if len(parts) > 1 and isinstance(parts[-1], ast.Constant) and parts[-1].value == size:
                return parts[:-1]
    return [node]


def _equal_product(contract: Contract, buffer: Buffer) -> list[ast.expr] | None:
    """``n == rows * cols`` among the preconditions makes (rows, cols) of an extent n."""
    for clause in contract.requires:
        match clauses.parse(clause.text):
            case ast.Compare(left=a, ops=[ast.Eq()], comparators=[b]):
                for side, other in ((a, b), (b, a)):
                    if ast.unparse(side) == buffer.extent.strip() and len(_factors(other)) > 1:
                        return _factors(other)
    return None
