"""What a simulator run is asked and what it answers. Data only; a clean result is 'no fault in these runs', no proof.

Example::

    SimResult(findings=(), outputs={"y": b"..."}, blocks_run=4, blocks_launched=4)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from specs.location import Span
from specs.results import ThreadAccess

ScheduleKind = Literal["forward", "reverse", "random", "interleaved"]
SCHEDULES: tuple[ScheduleKind, ...] = ("forward", "reverse", "random", "interleaved")


@dataclass(frozen=True, slots=True)
class Schedule:
    """In which order blocks and threads run. ``interleaved``: threads are preempted after a few accesses.

    ``first``: the thread of each block (its number in it) that starts before the others; None: as ``kind`` says.
    """

    kind: ScheduleKind = "forward"
    seed: int = 0
    first: int | None = None


@dataclass(frozen=True, slots=True)
class SimFinding:
    """One fault that was seen. ``property`` is one of the ids of docs/checks; ``count``: how often at this place.

    ``index``: element of ``buffer`` (negative: before its start); ``extent``: how many elements it has.
    """

    property: str
    span: Span
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    message: str
    buffer: str = ""
    index: int | None = None
    other: ThreadAccess | None = None
    extent: int | None = None
    action: str = ""
    """What the thread does, in words: ``writes y[1024]``."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class PlaceRequests:
    """What the warps ask of memory at one place. ``least…``: the same lanes and bytes, side by side.

    A request: the n-th time that the lanes of one warp execute it. ``sectors``: of 32 bytes, of all requests together;
    ``wavefronts``: rounds that the banks of shared memory need.
    """

    span: Span
    buffer: str
    shared: bool
    action: Literal["load", "store", "atomic"]
    size: int
    requests: int
    lanes: int
    sectors: int
    least_sectors: int
    wavefronts: int
    least_wavefronts: int


@dataclass(frozen=True, slots=True)
class SimResult:
    """``unsupported``: a construct that has no meaning here, by name; ``error``: a limit or a crash.

    With either of them set the run says nothing about what it did not reach.
    """

    findings: tuple[SimFinding, ...] = ()
    outputs: dict[str, bytes] = field(default_factory=dict)
    blocks_run: int = 0
    blocks_launched: int = 0
    unsupported: str | None = None
    seconds: float = 0.0
    error: str | None = None
    cpu_seconds: float = 0.0
    """Of the launch alone, without process start and transfers."""
    accesses: int = 0
    switches: int = 0
    requests: tuple[PlaceRequests, ...] | None = None
    """Of a run that recorded them, in the order of their places; None where it did not, or not to its end."""
    unwritten: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Uninitialised buffers that were not wholly written: how many elements, and the first of them."""

    blocks: frozenset[int] = frozenset()
    """Addresses of the basic blocks that ran, of a program that tells."""

    @property
    def complete(self) -> bool:
        """Whether every thread of the chosen blocks ran to its end under watch."""
        return self.unsupported is None and self.error is None and self.blocks_run > 0


class SimulatorMissing(Exception):
    """No usable g++; the message holds the line that installs it."""
