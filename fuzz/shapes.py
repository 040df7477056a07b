"""What the shape of a buffer may be: contract, parameter -> readings, each a tuple of clause texts.

A shape that the contract states is the only reading. An extent that is a product of dims says which dims there are but
not their order, so each order is a reading, the written one first. A bare extent of a lifted contract has no reading:
its rank is not known.

Example::

    readings(contract, "x")     # extent "rows * cols": (("rows", "cols"), ("cols", "rows"))
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
    """Whether the contract itself says the shape."""
    buffer = contract.buffer(param)
    return buffer is not None and (bool(buffer.shape) or len(readings(contract, param)) == 1)


def readings(contract: Contract, param: str) -> tuple[Texts, ...]:
    """Every shape that the buffer may have."""
    buffer = contract.buffer(param)
    assert buffer is not None
    if buffer.shape:
        return (buffer.shape,)
    factors = _factors(clauses.parse(buffer.extent))
    if len(factors) == 1 and not isinstance(factors[0], ast.Constant):
        factors = _equal_product(contract, buffer) or factors
        if len(factors) == 1 and contract.origin != "stated":
            return ()
    texts = tuple(ast.unparse(f) for f in factors)
    return tuple(dict.fromkeys(itertools.permutations(texts))) if len(texts) <= MOST_FACTORS else (texts,)


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
