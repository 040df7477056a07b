"""What integer buffers hold at launch when the contract does not say: three kinds of contents, tried in turn.

Example::

    fill(launch, "counting", seed=0)      # {"idx": 0, 1, 2, … as bytes}; {} where every content is bounded
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sanitizers.simulator import DTYPE_BYTES, small_values
from specs.contract import ConcreteBuffer, ConcreteLaunch

Contents = Literal["zeros", "ones", "counting", "random"]
"""``zeros``: valid as any index, count or flag; ``ones``: as any divisor. ``counting``: distinct. ``random``: small,
repeated."""


def open_buffers(launch: ConcreteLaunch) -> list[ConcreteBuffer]:
    """The integer buffers whose contents at launch the contract leaves open."""
    return [
        b
        for b in launch.buffers
        if b.initialized and b.low is None and b.high is None and b.dtype[0] in "iu" and b.numel > 0
    ]


def fill(launch: ConcreteLaunch, contents: Contents, seed: int) -> dict[str, bytes]:
    """Contents of the open buffers; the runner's own small values for all others."""
    if contents == "random":
        return {b.param: small_values(b, seed) for b in open_buffers(launch) if b.numel <= 1 << 22}
    return {b.param: _pattern(b, contents) for b in open_buffers(launch) if b.numel <= 1 << 22}


def _pattern(buffer: ConcreteBuffer, contents: Contents) -> bytes:
    values = np.arange(buffer.numel, dtype=np.int64)
    if contents != "counting":
        values[:] = contents == "ones"
    return values.astype(f"<{buffer.dtype[0]}{DTYPE_BYTES[buffer.dtype]}").tobytes()
