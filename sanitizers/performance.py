"""What a kernel's run in the simulator says of its speed on a GPU: predicted, never measured.

The simulator sees every access of every lane, so it can count what a warp asks of memory: sectors of global memory, rounds
of the banks of shared memory, lanes that take part. Occupancy is bounded from above by threads, blocks and shared memory of
an architecture (registers are not known). Invariant: a prediction is for the launch that was run and for accesses as
written; caches, reordering and what a GPU compiler merges are not in it.

Example::

    predicted = predict(session, launch, "sm_90")
    predicted.sectors_per_request, predicted.bank_conflicts, predicted.occupancy, predicted.advice
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sanitizers.simulator import PlaceRequests, Schedule, Session
from specs.contract import ConcreteLaunch


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """Limits of one multiprocessor: threads, blocks, bytes of shared memory, and what each block takes besides."""

    threads: int
    blocks: int
    shared_bytes: int
    reserved: int = 1024


# CUDA C++ Programming Guide, technical specifications by compute capability.
MULTIPROCESSORS = {
    "sm_75": Multiprocessor(1024, 16, 65536, 0),
    "sm_80": Multiprocessor(2048, 32, 167936),
    "sm_86": Multiprocessor(1536, 16, 102400),
    "sm_89": Multiprocessor(1536, 24, 102400),
    "sm_90": Multiprocessor(2048, 32, 233472),
    "sm_100": Multiprocessor(2048, 32, 233472),
    "sm_120": Multiprocessor(1536, 24, 102400),
}


@dataclass(frozen=True, slots=True)
class Prediction:
    """``occupancy``: at most so much of a multiprocessor's threads, by architecture. ``advice``: what stands out."""

    places: tuple[PlaceRequests, ...]
    occupancy: dict[str, float]
    advice: tuple[str, ...]

    @property
    def sectors_per_request(self) -> float:
        """Of global memory; four is the least for full warps of four-byte accesses."""
        return _ratio([(p.sectors, p.requests) for p in self.places if not p.shared])

    @property
    def coalescing(self) -> float:
        """Least sectors of all sectors: 1 where no byte is fetched in vain."""
        return _ratio([(p.least_sectors, p.sectors) for p in self.places if not p.shared], 1.0)

    @property
    def bank_conflicts(self) -> int:
        """Rounds of shared memory beyond the least."""
        return sum(p.wavefronts - p.least_wavefronts for p in self.places if p.shared)

    @property
    def lanes_per_request(self) -> float:
        """32 where every lane of every warp takes part in each access: less is divergence, or warps that are not full."""
        return _ratio([(p.lanes, p.requests) for p in self.places], 32.0)

    @property
    def global_bytes(self) -> int:
        """Moved between multiprocessors and the level-two cache, before any reuse in the level-one cache."""
        return 32 * sum(p.sectors for p in self.places if not p.shared)

    def facts(self) -> dict[str, object]:
        """For reports."""
        return {
            "label": "predicted",
            "sectors_per_request": round(self.sectors_per_request, 2),
            "coalescing": round(self.coalescing, 3),
            "bank_conflicts": self.bank_conflicts,
            "lanes_per_request": round(self.lanes_per_request, 2),
            "global_bytes": self.global_bytes,
            "occupancy_at_most": {arch: round(value, 3) for arch, value in self.occupancy.items()},
            "advice": list(self.advice),
        }


def predict(
    session: Session, launch: ConcreteLaunch, archs: Sequence[str], shared_bytes: int | None = None
) -> Prediction | None:
    """Run the launch once and count. None where the run was not whole or shows a fault.

    ``shared_bytes``: of a block; by default what the launch asks for (static arrays are then not counted).
    """
    result = session.run(launch, None, Schedule("forward"), outputs=False, requests=True)
    if not result.complete or result.findings or result.requests is None:
        return None
    shared = launch.shared_bytes if shared_bytes is None else shared_bytes
    occupancy = {arch: occupied(launch.block, shared, arch) for arch in archs if arch in MULTIPROCESSORS}
    return Prediction(result.requests, occupancy, tuple(_advice(result.requests)))


def occupied(block: tuple[int, int, int], shared_bytes: int, arch: str) -> float:
    """The share of a multiprocessor's threads that its blocks can fill, if registers do not limit it further."""
    limits = MULTIPROCESSORS[arch]
    threads = -(-block[0] * block[1] * block[2] // 32) * 32
    blocks = min(limits.blocks, limits.threads // threads)
    if shared_bytes:
        blocks = min(blocks, limits.shared_bytes // (shared_bytes + limits.reserved))
    return blocks * threads / limits.threads


def _advice(places: Sequence[PlaceRequests]) -> list[str]:
    total = sum(p.sectors for p in places if not p.shared) or 1
    found = []
    for p in places:
        if not p.shared and p.sectors >= 2 * p.least_sectors and p.sectors * 10 >= total:
            found.append(
                f"{p.span}: {p.action} of {p.buffer} is not coalesced: {p.sectors / p.requests:.1f} sectors a request, "
                f"{p.least_sectors / p.requests:.1f} would do"
            )
        if p.shared and p.wavefronts >= 2 * p.least_wavefronts and p.action != "atomic":
            found.append(
                f"{p.span}: {p.action} of {p.buffer} has bank conflicts: {p.wavefronts / p.requests:.1f} rounds a request"
            )
        if p.requests >= 8 and p.lanes <= 8 * p.requests:
            found.append(
                f"{p.span}: {p.action} of {p.buffer} is executed by {p.lanes / p.requests:.1f} lanes of a warp on average"
            )
    return found


def _ratio(parts: Sequence[tuple[int, int]], empty: float = 0.0) -> float:
    above, below = sum(a for a, _ in parts), sum(b for _, b in parts)
    return above / below if below else empty
