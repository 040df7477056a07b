"""Cooperative groups as arithmetic on thread indices.

Example: ``tiled_partition<32>(block).thread_rank()`` -> ``((z * Dy + y) * Dx + x) % 32``.
"""

from __future__ import annotations

import re
from functools import reduce

from verifier.ir.nodes import U32, U64, Binary, Builtin, Convert, Expr, IntConst

_SIZE = re.compile(r"thread_block_tile<(\d+)")


def tile_size(spelling: str) -> int:
    found = _SIZE.search(spelling)
    return int(found.group(1)) if found else 0


def _u32(operator: str, left: Expr, right: Expr) -> Expr:
    return Binary(operator, left, right, U32)  # type: ignore[arg-type]


def thread_rank() -> Expr:
    """The linear index of the thread in its block."""
    rows = _u32("add", _u32("mul", Builtin("threadIdx.z"), Builtin("blockDim.y")), Builtin("threadIdx.y"))
    return _u32("add", _u32("mul", rows, Builtin("blockDim.x")), Builtin("threadIdx.x"))


def thread_count() -> Expr:
    return _u32("mul", _u32("mul", Builtin("blockDim.x"), Builtin("blockDim.y")), Builtin("blockDim.z"))


def tile_mask(size: int) -> Expr:
    """The lanes of the thread's own tile."""
    if size == 32:
        return IntConst(0xFFFFFFFF, U32)
    lane = _u32("rem", thread_rank(), IntConst(32, U32))
    first = _u32("sub", lane, _u32("rem", lane, IntConst(size, U32)))
    return _u32("shl", IntConst((1 << size) - 1, U32), first)


def lane_index() -> Expr:
    return _u32("rem", thread_rank(), IntConst(32, U32))


def special_register(name: str) -> Expr | None:
    """A special register of PTX that has a meaning: ``laneid``, ``tid.x`` …"""
    base, _, axis = name.partition(".")
    builtin = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}.get(base)
    if builtin is not None and axis in ("x", "y", "z"):
        return Builtin(f"{builtin}.{axis}")
    match name:
        case "laneid":
            return lane_index()
        case "lanemask_eq":
            return _u32("shl", IntConst(1, U32), lane_index())
        case "lanemask_lt":
            return _u32("sub", _u32("shl", IntConst(1, U32), lane_index()), IntConst(1, U32))
        case _:
            return None


def _u64(operator: str, left: Expr, right: Expr) -> Expr:
    return Binary(operator, left, right, U64)  # type: ignore[arg-type]


def wide_product(*factors: Expr) -> Expr:
    return reduce(lambda a, b: _u64("mul", a, b), factors)


def wide_sum(*parts: Expr) -> Expr:
    return reduce(lambda a, b: _u64("add", a, b), parts)


def block_rank() -> Expr:
    """The linear index of the block in its grid, as 64 bits."""
    x, y, z = (Convert(U64, Builtin(f"blockIdx.{axis}")) for axis in "xyz")
    wide, high = (Convert(U64, Builtin(f"gridDim.{axis}")) for axis in "xy")
    return wide_sum(x, wide_product(wide, wide_sum(y, wide_product(high, z))))
