"""A kernel of which nobody says how it is launched, as a contract in which everything is a symbol.

Kernel -> Bare: one symbol for each integer argument, the length of each buffer, each axis of grid and block, and the
dynamic shared memory. Claims nothing but the limits of the device. Invariant: every launch that the device accepts, with
buffers up to the size cap, is one of the contract's.

Example: ``k(const float* x, int n)`` has the symbols ``n``, ``len_x``, ``gridDim_x`` … ``blockDim_z``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from specs.clauses import FUNCTIONS, int_range
from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from verifier.ir import nodes as ir
from verifier.symex.setup import MAX_BLOCK, MAX_GRID

SHARED_LIMIT = 48 * 1024
_RESERVED = {*FUNCTIONS, "and", "or", "not", "if", "else", "True", "False", "None", "is", "in", "lambda"}


@dataclass(frozen=True, slots=True)
class Bare:
    """``names``: parameter -> symbol. ``lengths``: pointer parameter -> symbol of its number of elements."""

    contract: Contract
    names: dict[str, str]
    lengths: dict[str, str]
    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared: str


def bare(kernel: ir.Kernel) -> Bare:
    """The contract that any launch meets; parameters of other types than numbers and plain pointers become gaps."""
    taken = set(_RESERVED)
    symbols: list[Symbol] = []
    buffers: list[Buffer] = []
    scalars: list[Scalar] = []
    names: dict[str, str] = {}
    lengths: dict[str, str] = {}
    for p in kernel.params:
        match p.type:
            case ir.Int(bits=bits, signed=signed):
                names[p.name] = name = _free(p.name, taken)
                low, high = int_range(bits, signed)
                symbols.append(Symbol(name, "scalar", f"argument {p.name}", low, high))
                scalars.append(Scalar(p.name, name, "drafted"))
            case ir.Pointer(elem=elem):
                found = element(elem)
                if found is not None:
                    dtype, lanes = found
                    lengths[p.name] = name = _free(f"len_{p.name}", taken)
                    what = f"elements of {p.name}" + (f", {lanes} {dtype} each" if lanes > 1 else "")
                    symbols.append(Symbol(name, "scalar", what, 0, 1 << 30))
                    extent = f"{lanes} * {name}" if lanes > 1 else name
                    buffers.append(Buffer(p.name, dtype, extent, initialized=False, origin="drafted"))
    grid = [_free(f"gridDim_{a}", taken) for a in "xyz"]
    block = [_free(f"blockDim_{a}", taken) for a in "xyz"]
    for made, most in ((grid, MAX_GRID), (block, MAX_BLOCK)):
        symbols += [Symbol(n, "scalar", "the launch", 1, m) for n, m in zip(made, most, strict=True)]
    shared = _free("shared_bytes", taken)
    dynamic = any(o.dynamic for o in kernel.objects)
    if dynamic:
        symbols.append(Symbol(shared, "scalar", "dynamic shared memory in bytes", 0, SHARED_LIMIT))
    threads = Clause(" * ".join(block) + " <= 1024", "drafted", note="limit of the device")
    launch = Launch(
        kernel.name, kernel.instantiation, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]),
        shared if dynamic else "0", kernel.span,
    )  # fmt: skip
    contract = Contract(
        kernel.name, kernel.instantiation, launch, tuple(symbols), tuple(buffers), tuple(scalars), (threads,), "drafted"
    )  # fmt: skip
    return Bare(
        contract, names, lengths, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), shared if dynamic else ""
    )  # fmt: skip


def element(type_: ir.Type) -> tuple[str, int] | None:
    """(dtype, how many) of what a pointer points to; structs of one type of number count as several."""
    match type_:
        case ir.Int(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}", 1
        case ir.Bool():
            return "bool", 1
        case ir.Float(name=name):
            return name, 1
        case ir.Struct(fields=fields):
            parts = {element(f.type) for f in fields}
            one = parts.pop() if len(parts) == 1 else None
            if one is None or not fields:
                return None
            size = ir.size_of(fields[0].type)
            return (one[0], type_.size // (size // one[1])) if type_.size == size * len(fields) else None
        case ir.Array(elem=elem, count=count):
            found = element(elem)
            return None if found is None or count < 1 else (found[0], found[1] * count)
        case _:
            return None


def under(contract: Contract, clauses: Iterable[Clause]) -> Contract:
    """The contract with more preconditions."""
    return replace(contract, requires=(*contract.requires, *clauses))


def _free(name: str, taken: set[str]) -> str:
    base = re.sub(r"\W", "_", name) or "p"
    if base[0].isdigit():
        base = f"p{base}"
    made, i = base, 1
    while made in taken:
        i += 1
        made = f"{base}_{i}"
    taken.add(made)
    return made
