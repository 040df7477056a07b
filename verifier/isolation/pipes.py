"""Frames over a child's pipes: (JSON header, blobs) in, (JSON header, blobs) out.

A frame is an 8-byte length of the header, the header (its ``blobs`` are the lengths), the blobs. Reading gives up at a
deadline or a size. Invariant: nothing but JSON and raw bytes is decoded (no pickle), and a short or huge frame is an
error, never a guess.

Example::

    write(process.stdin, {"do": "expect"}, [b"..."])
    header, blobs = read(process.stdout.fileno(), seconds=30.0)
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Sequence
from typing import IO, Any

MOST = 1 << 30


class PipeError(RuntimeError):
    """The other side ended, was too slow, or sent nonsense."""


def write(stream: IO[bytes], header: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Send one frame."""
    text = json.dumps({**header, "blobs": [len(b) for b in blobs]}).encode()
    try:
        stream.write(struct.pack("<Q", len(text)) + text)
        for blob in blobs:
            stream.write(blob)
        stream.flush()
    except (BrokenPipeError, ValueError) as error:
        raise PipeError("the other process has ended") from error


def read(
    descriptor: int, seconds: float = float("inf"), most: int = MOST
) -> tuple[dict[str, Any], list[bytes]]:
    """Receive one frame of at most ``most`` bytes, or raise PipeError."""
    deadline = time.monotonic() + seconds
    (size,) = struct.unpack("<Q", _exactly(descriptor, 8, deadline))
    if size > 1 << 24:
        raise PipeError("the other process sent something that is no frame")
    try:
        header = json.loads(_exactly(descriptor, size, deadline))
        sizes = [int(n) for n in header.pop("blobs")]
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise PipeError("the other process sent something that is no frame") from error
    if sum(sizes) > most or any(n < 0 for n in sizes):
        raise PipeError("the other process sent too much")
    return header, [_exactly(descriptor, n, deadline) for n in sizes]


def waiting(descriptor: int, seconds: float) -> bool:
    """Whether there is something to read, or the end, within so many seconds."""
    return bool(select.select([descriptor], [], [], seconds)[0])


def _exactly(descriptor: int, size: int, deadline: float) -> bytes:
    got = bytearray()
    while len(got) < size:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], min(left, 3600.0))[0]:
            raise PipeError("the other process was too slow")
        chunk = os.read(descriptor, min(1 << 20, size - len(got)))
        if not chunk:
            raise PipeError("the other process has ended")
        got += chunk
    return bytes(got)
