"""Concrete launches -> the folder that the child on the GPU works from (host.py), and what it said -> ``Said``.

Buffers, contents and arguments are those that the simulator gets (sanitizers/simulator/wire.py).

Example::

    write(folder, driver, [work(compiled, kernel, launch, inputs, seed=0)], control=None, guard=0)
    read(folder).launches[0].status      # 0
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sanitizers.gpu.compile import Compiled
from sanitizers.simulator import DTYPE_BYTES, small_values, wire
from specs.contract import ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir

CONTROL_THREADS = 64
GUARD = 4096
"""Bytes before and behind a buffer, where a run does not look at bounds itself."""
MOST_CONTENT = 64 << 20
"""Larger buffers are zeroed instead of filled."""


@dataclass(frozen=True, slots=True)
class Work:
    """One launch of a compiled kernel: what the child is told, and the bytes of its buffers."""

    program: bytes
    entry: str
    cooperative: bool
    launch: ConcreteLaunch
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    contents: tuple[bytes | None, ...]
    zeroed: tuple[bool, ...]
    params: tuple[tuple[bytes, tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class Launched:
    """``status``: of the driver, 0 for none. ``damaged``: (buffer, offset of the first byte) of guards written to."""

    number: int
    status: int
    error: str
    damaged: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What the child wrote until it ended. ``control``: status of the seeded fault's launch, None if it did not come to it."""

    device: str = ""
    arch: str = ""
    driver: int = 0
    started: int = 0
    launches: tuple[Launched, ...] = ()
    control: int | None = None
    trouble: str = ""
    raw: tuple[dict[str, Any], ...] = field(default=(), repr=False)


def work(
    compiled: Compiled,
    kernel: ir.Kernel,
    launch: ConcreteLaunch,
    inputs: Mapping[str, bytes],
    seed: int,
) -> Work:
    """Raises sanitizers.simulator.wire.CannotEncode."""
    plan = wire.layout(launch)
    place = {param: i for i, group in enumerate(plan.params) for param in group}
    by_param = {b.param: b for b in launch.buffers}
    groups = [[by_param[p] for p in group] for group in plan.params]
    params = [wire.argument(group, place, launch) for group in wire.arguments(kernel.params)]
    return Work(
        program=compiled.cubin,
        entry=compiled.entry,
        cooperative=compiled.cooperative,
        launch=launch,
        sizes=plan.sizes,
        names=tuple("/".join(group) for group in plan.params),
        contents=tuple(_content(g, size, inputs, seed) for g, size in zip(groups, plan.sizes, strict=True)),
        zeroed=tuple(any(b.initialized for b in g) for g in groups),
        params=tuple((data, tuple(pointers)) for data, pointers in params),
    )


def _content(
    group: Sequence[ConcreteBuffer], size: int, inputs: Mapping[str, bytes], seed: int
) -> bytes | None:
    """None: not initialised, or too large to be filled."""
    if not any(b.initialized for b in group) or size > MOST_CONTENT:
        return None
    given = next((inputs[b.param] for b in group if b.param in inputs), None)
    data = bytearray(given if given is not None else small_values(group[0], seed))
    data = data[:size].ljust(size, b"\0")
    for buffer in group:
        width = DTYPE_BYTES[buffer.dtype]
        for index, value in buffer.data.items():
            if 0 <= index < buffer.numel:
                raw = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
                data[index * width : (index + 1) * width] = raw
    return bytes(data)


def write(
    folder: Path, driver: Path, works: Sequence[Work], control: tuple[bytes, str] | None, guard: int
) -> None:
    """``control``: cubin and name of the seeded fault to launch last."""
    data = bytearray()
    programs: dict[bytes, str] = {}
    launches = [
        described(w, programs.setdefault(w.program, f"kernel{len(programs)}.cubin"), data) for w in works
    ]
    last = None
    if control is not None:
        (folder / "control.cubin").write_bytes(control[0])
        last = _control(control[1])
    for program_bytes, name in programs.items():
        (folder / name).write_bytes(program_bytes)
    (folder / "data.bin").write_bytes(data)
    job = {"library": str(driver), "guard": guard, "launches": launches, "control": last}
    (folder / "job.json").write_text(json.dumps(job))


def described(w: Work, program: str | int, data: bytearray) -> dict[str, Any]:
    """The launch as the child reads it; the contents of its buffers go behind ``data``."""
    buffers = []
    for size, content, zero in zip(w.sizes, w.contents, w.zeroed, strict=True):
        place = None if content is None else [len(data), len(content)]
        data += content or b""
        buffers.append({"size": size, "data": place, "zero": zero})
    params = [{"data": raw.hex(), "pointers": [list(p) for p in pointers]} for raw, pointers in w.params]
    return {
        "program": program,
        "kernel": w.entry,
        "cooperative": w.cooperative,
        "grid": list(w.launch.grid),
        "block": list(w.launch.block),
        "shared": w.launch.shared_bytes,
        "buffers": buffers,
        "params": params,
    }


def _control(entry: str) -> dict[str, Any]:
    zero = not entry.endswith("initcheck")
    return {
        "program": "control.cubin",
        "kernel": entry,
        "cooperative": False,
        "grid": [1, 1, 1],
        "block": [CONTROL_THREADS, 1, 1],
        "shared": 0,
        "buffers": [{"size": 4 * CONTROL_THREADS, "data": None, "zero": zero}],
        "params": [{"data": bytes(8).hex(), "pointers": [[0, 0]]}],
    }


def read(folder: Path) -> Said:
    """The events so far; a line that is not whole ends them."""
    path = folder / "events.jsonl"
    facts: list[dict[str, Any]] = []
    for line in path.read_text().splitlines() if path.is_file() else ():
        try:
            facts.append(json.loads(line))
        except ValueError:
            break
    first = next((f for f in facts if "device" in f), {})
    launches = tuple(
        Launched(f["launch"], f["status"], f["error"], tuple((b, at) for b, at in f["guards"]))
        for f in facts
        if "launch" in f
    )
    trouble = next((f[k] for f in facts for k in ("failed", "refused") if k in f), "")
    return Said(
        device=first.get("device", ""),
        arch=first.get("arch", ""),
        driver=first.get("driver", 0),
        started=sum("started" in f for f in facts),
        launches=launches,
        control=next((f["control"] for f in facts if "control" in f), None),
        trouble=trouble,
        raw=tuple(facts),
    )
