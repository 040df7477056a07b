"""Element types: kernel dtype names <-> numpy arrays <-> raw bytes. bf16 is kept as the float32 values it stands for.

Example::

    encode(np.array([1.0, 2.5]), "bf16")   # b"\\x80?\\x20@"
    decode(raw, "f32")                     # float64 array, exact
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FLOATS = ("f16", "bf16", "f32", "f64")
NAMES = {
    "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "float32": "f32",
    "float64": "f64", "bool": "bool", "bfloat16": "bf16",
}  # fmt: skip
"""torch's words -> the kernels'."""
_NUMPY = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
    "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_,
    "bf16": np.uint16,
}  # fmt: skip


def known(dtype: str) -> bool:
    return dtype in _NUMPY


def size(dtype: str) -> int:
    """Bytes an element."""
    return np.dtype(_NUMPY[dtype]).itemsize


def encode(values: Array, dtype: str) -> bytes:
    """Raw bytes of the values, rounded to nearest into the dtype."""
    if dtype == "bf16":
        with np.errstate(over="ignore"):
            bits = values.astype(np.float32).view(np.uint32)
        nan = np.isnan(values)
        rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        return np.where(nan, np.uint16(0x7FC0), rounded).astype(np.uint16).tobytes()
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(_NUMPY[dtype]).tobytes()


def decode(raw: bytes, dtype: str) -> Array:
    """The values, exactly: float64 for floats, int64 (u64: uint64) for integers."""
    array: Array = np.frombuffer(raw, dtype=_NUMPY[dtype])
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype in FLOATS:
        return array.astype(np.float64)
    return array if dtype == "u64" else array.astype(np.int64)


def rounded(value: float, dtype: str) -> float:
    """The nearest value of the dtype."""
    return float(decode(encode(np.array([value], dtype=np.float64), dtype), dtype)[0])


def poison(dtype: str, count: int, turn: int = 0) -> bytes:
    """A pattern that no kernel writes by chance: a NaN with a payload, or an odd integer."""
    match dtype:
        case "f32":
            word = np.array([0x7FC0DEA5 + turn], dtype=np.uint32)
        case "f64":
            word = np.array([0x7FF8DEAD0000BEE5 + turn], dtype=np.uint64)
        case "f16":
            word = np.array([0x7E5A + turn], dtype=np.uint16)
        case "bf16":
            word = np.array([0x7FDA + turn], dtype=np.uint16)
        case "bool":
            word = np.array([turn & 1], dtype=np.uint8)
        case _:
            word = np.array([0xA5A5A5A5A5A5A5A5 + turn], dtype=np.uint64).view(_NUMPY[dtype])[:1]
    return word.tobytes() * count


def untouched(raw: bytes, dtype: str, turn: int = 0) -> Array:
    """Which elements still hold the poison."""
    width = size(dtype)
    pattern = np.frombuffer(poison(dtype, 1, turn), dtype=np.uint8)
    same: Array = np.all(np.frombuffer(raw, dtype=np.uint8).reshape(-1, width) == pattern, axis=1)
    return same
