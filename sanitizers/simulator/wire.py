"""The request and response of the simulator's child: bytes in, bytes out. As in runtime/main.cpp.

Example::

    request = encode(launch, kernel, inputs, schedule, nonce=7, budget=1 << 28)
    reply = decode(raw, nonce=7)          # None: not a complete, honest answer
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sanitizers.simulator.model import SCHEDULES, Schedule
from specs.contract import NULL_STORAGE, ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir

MAGIC, CRASH = 0x544D4953, 0x48535243
KEEP_GLOBALS, CALL_PATHS, TOLERANT, REQUESTS = 1, 2, 4, 8
_INITIALISED, _WANTED, _RESERVED = 1, 2, 4
_MASK = (1 << 64) - 1
DTYPE_BYTES = {
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i16": 2, "u16": 2,
    "i32": 4, "u32": 4, "i64": 8, "u64": 8, "bool": 1,
}  # fmt: skip
_NUMPY = {
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
    "bool": "u1",
    **{f"{s}{8 * n}": f"{s}{n}" for s in "iu" for n in (1, 2, 4, 8)},
}
_FLOATS = ("f16", "bf16", "f32", "f64")
RESERVE_ABOVE = 64 << 20
"""Buffers larger than this are reserved (zeros), not filled, and do not come back."""
UNSEEN_ABOVE = 4 << 20
"""The same for floating-point buffers of runs whose outputs are not asked for."""


class CannotEncode(Exception):
    """A parameter that this launch gives no value for, in words."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``facts``: the child's JSON. ``raw``: the contents of the wanted buffers, one after another."""

    facts: dict[str, Any]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Layout:
    """Which memory each parameter has. ``wanted``: index and size of the buffers that come back, in order."""

    storages: tuple[str, ...]
    params: tuple[tuple[str, ...], ...]
    sizes: tuple[int, ...]
    wanted: tuple[int, ...]


def layout(launch: ConcreteLaunch, outputs: bool = True) -> Layout:
    """Buffers of one storage id are one piece of memory."""
    storages: dict[str, list[ConcreteBuffer]] = {}
    for buffer in launch.buffers:
        if buffer.storage == NULL_STORAGE:
            continue
        storages.setdefault(buffer.storage or f"\0{buffer.param}", []).append(buffer)
    sizes = tuple(max(b.numel * DTYPE_BYTES[b.dtype] for b in group) for group in storages.values())
    return Layout(
        tuple(storages),
        tuple(tuple(b.param for b in group) for group in storages.values()),
        sizes,
        tuple(i for i, size in enumerate(sizes) if outputs and size <= RESERVE_ABOVE),
    )


def encode(
    launch: ConcreteLaunch,
    params: Sequence[ir.Param],
    inputs: Mapping[str, bytes],
    schedule: Schedule,
    *,
    nonce: int,
    budget: int,
    flags: int = 0,
    blocks: Sequence[int] | None = None,
    outputs: bool = True,
) -> bytes:
    """The request. Raises CannotEncode."""
    plan = layout(launch, outputs)
    place = {param: i for i, group in enumerate(plan.params) for param in group}
    by_param = {b.param: b for b in launch.buffers}
    groups = arguments(params)
    parts = [
        struct.pack(
            "<IIQQ6IQQIIII",
            MAGIC,
            SCHEDULES.index(schedule.kind) | (0 if schedule.first is None else schedule.first + 1) << 8,
            nonce,
            schedule.seed & _MASK,
            *launch.grid,
            *launch.block,
            launch.shared_bytes,
            budget,
            len(plan.sizes),
            len(groups),
            len(blocks or ()),
            flags,
        )
    ]
    for i, (group, size) in enumerate(zip(plan.params, plan.sizes, strict=True)):
        buffers = [by_param[p] for p in group]
        floats = not outputs and all(b.dtype in _FLOATS for b in buffers)
        reserved = size > (UNSEEN_ABOVE if floats else RESERVE_ABOVE)
        parts.append(_buffer(buffers, size, reserved, i in plan.wanted, inputs, schedule.seed))
    parts += [_parameter(group, place, launch) for group in groups]
    parts += [struct.pack("<Q", block) for block in blocks or ()]
    return b"".join(parts)


def _buffer(
    group: list[ConcreteBuffer],
    size: int,
    reserved: bool,
    wanted: bool,
    inputs: Mapping[str, bytes],
    seed: int,
) -> bytes:
    head = group[0]
    element = DTYPE_BYTES[head.dtype]
    initialised = any(b.initialized for b in group)
    if reserved and initialised and not all((b.low or 0) <= 0 <= (b.high or 0) for b in group):
        raise CannotEncode(f"{head.param} is too large to be filled, and 0 is none of its values")
    data = next((inputs[b.param] for b in group if b.param in inputs), None)
    if data is None and initialised and not reserved:
        data = small_values(head, seed)
    data = (data or b"")[:size]
    patches = [
        (i * DTYPE_BYTES[b.dtype], DTYPE_BYTES[b.dtype], v)
        for b in group
        for i, v in b.data.items()
        if 0 <= i < b.numel  # a model may name contents that no launch has
    ]
    flags = _INITIALISED * initialised | _WANTED * wanted | _RESERVED * (reserved or data != b"")
    out = [
        struct.pack(
            "<QQQII64s",
            size,
            len(data),
            len(patches),
            element,
            flags,
            "/".join(b.param for b in group).encode()[:63],
        ),
        data,
    ]
    for offset, width, value in patches:
        out.append(
            struct.pack("<QQ8s", offset, width, (value & ((1 << 8 * width) - 1)).to_bytes(width, "little"))
        )
    return b"".join(out)


def small_values(buffer: ConcreteBuffer, seed: int) -> bytes:
    """Deterministic contents of a buffer: small values, within its bounds if it has any."""
    rng = np.random.default_rng([seed & 0xFFFFFFFF, *buffer.param.encode()])
    if buffer.dtype in _FLOATS:
        values = rng.integers(-128, 129, buffer.numel).astype(np.float64) / 64.0
        if buffer.dtype == "bf16":
            return (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        return values.astype("<" + _NUMPY[buffer.dtype]).tobytes()
    bits, signed = 8 * DTYPE_BYTES[buffer.dtype], buffer.dtype.startswith("i")
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if buffer.dtype == "bool":
        lowest, highest = 0, 1
    low = lowest if buffer.low is None else max(lowest, buffer.low)
    high = highest if buffer.high is None else min(highest, buffer.high)
    if buffer.low is None:
        low = max(low, min(0, high))
    if buffer.high is None:
        high = min(high, max(7, low))
    if high < low:
        low = high = max(lowest, min(highest, low))
    span = random.Random(seed)
    if high - low < 1 << 62:
        return (
            (rng.integers(0, high - low + 1, buffer.numel, dtype=np.int64) + low)
            .astype("<" + _NUMPY[buffer.dtype])
            .tobytes()
        )
    return b"".join((span.randint(low, high) & _MASK).to_bytes(8, "little") for _ in range(buffer.numel))


def arguments(params: Sequence[ir.Param]) -> list[list[ir.Param]]:
    """The kernel's arguments: a class passed by value is the group of its scalars ``p.x``, ``p.dims[0]``."""
    groups: dict[str, list[ir.Param]] = {}
    for param in params:
        groups.setdefault(param.name.partition(".")[0], []).append(param)
    return list(groups.values())


def argument(
    group: Sequence[ir.Param], place: Mapping[str, int], launch: ConcreteLaunch
) -> tuple[bytes, list[tuple[int, int]]]:
    """One argument's bytes, and the pointers in it: (offset, buffer). Raises CannotEncode."""
    nulls = {b.param for b in launch.buffers if b.storage == NULL_STORAGE}
    data = bytearray()
    pointers: list[tuple[int, int]] = []
    for param in group:
        size = ir.size_of(param.type)
        data += b"\0" * (-len(data) % size)  # the members lie as the C++ ABI lays them out
        match param.type:
            case ir.Pointer():
                if param.name not in place and param.name in nulls:
                    data += bytes(8)
                    continue
                if param.name not in place:
                    raise CannotEncode(f"no buffer is known for the pointer {param.name}")
                pointers.append((len(data), place[param.name]))
                data += bytes(8)
            case ir.Int() | ir.Bool() | ir.Float():
                data += _scalar(param, launch)
            case _:
                raise CannotEncode(f"the parameter {param.name} is no scalar")
    return bytes(data), pointers


def _parameter(group: Sequence[ir.Param], place: Mapping[str, int], launch: ConcreteLaunch) -> bytes:
    data, pointers = argument(group, place, launch)
    if len(data) > 256 or len(pointers) > 15:
        raise CannotEncode(f"the parameter {group[0].name} has more than 256 bytes")
    padded = [*pointers, *[(0, 0)] * (15 - len(pointers))]
    return struct.pack("<256sI30II", data, len(pointers), *(n for pair in padded for n in pair), 0)


def _scalar(param: ir.Param, launch: ConcreteLaunch) -> bytes:
    value = launch.scalars.get(param.name)
    match param.type:
        case ir.Float(name=name):
            number = 1.0 if value is None else float(value)
            if name == "bf16":
                return struct.pack("<H", struct.unpack("<I", struct.pack("<f", _clipped(number)))[0] >> 16)
            if name == "f16":
                return bytes(np.float16(number).tobytes())
            return struct.pack("<f" if name == "f32" else "<d", _clipped(number) if name == "f32" else number)
        case ir.Bool():
            return bytes([1 if value is None else int(bool(value))])
        case _:
            size = ir.size_of(param.type)
            return (int(1 if value is None else value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _clipped(number: float) -> float:
    largest = float(np.finfo(np.float32).max)
    return number if math.isinf(number) or math.isnan(number) else max(-largest, min(largest, number))


def decode(raw: bytes, nonce: int) -> Reply | str:
    """The reply, or why there is none."""
    if len(raw) < 32:
        return "the simulator's child ended without an answer"
    magic, told, length, size = struct.unpack_from("<4Q", raw)
    if magic == CRASH:
        return raw[32 : 32 + min(length, 200)].decode("ascii", "replace")
    if magic != MAGIC or told != nonce or len(raw) != 40 + length + size:
        return "the simulator's child gave an answer that is not whole"
    if struct.unpack_from("<Q", raw, 32 + length + size)[0] != ~nonce & _MASK:
        return "the simulator's child gave an answer that is not whole"
    try:
        facts = json.loads(raw[32 : 32 + length])
    except ValueError:
        return "the simulator's child gave an answer that cannot be read"
    return (
        Reply(facts, raw[32 + length : 32 + length + size])
        if isinstance(facts, dict)
        else "the simulator's child gave no facts"
    )


def reply_size(head: bytes) -> int:
    """How many bytes a reply with this head has."""
    magic, _, length, size = struct.unpack("<4Q", head)
    return 32 + length if magic == CRASH else 40 + length + size if magic == MAGIC else 32
