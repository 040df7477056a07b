"""Which launch sizes to fuzz: contract -> symbol assignments, smallest first, every one of them allowed.

Rule for large problem shapes: the sampler scales a problem's sizes down to edges around 1, the warp, the block and
primes, as far as the preconditions allow; here what is still above ``ELEMENTS`` elements or ``THREADS`` threads is left
out, unless nothing else is left. Invariant: ``holds(contract, sizes)`` for each.

Example::

    pool(contract, seed=0)[0]      # {"n": 1}
"""

from __future__ import annotations

import math

from specs import clauses
from specs.contract import Contract

ELEMENTS = 1 << 16
THREADS = 1 << 15


def pool(contract: Contract, *, seed: int, count: int = 64) -> tuple[dict[str, int], ...]:
    """Up to ``count`` assignments."""
    from sanitizers.sampling import small_launches

    drawn = small_launches(contract, count=count, seed=seed, max_threads=THREADS)
    return ordered(contract, drawn)


def ordered(
    contract: Contract, drawn: list[dict[str, int]], *, factor: int = 1, or_larger: bool = True
) -> tuple[dict[str, int], ...]:
    """Allowed, distinct, smallest first, not too large (``or_larger``: unless nothing else is left)."""
    weighed: dict[tuple[tuple[str, int], ...], tuple[int, int]] = {}
    for sizes in drawn:
        if clauses.holds(contract, sizes):
            try:
                launch = clauses.instantiate(contract, sizes)
            except (clauses.ClauseError, clauses.ClauseUndefined):
                continue
            width = math.prod(launch.grid) * math.prod(launch.block)
            if width > 0 and all(b.numel >= 0 for b in launch.buffers):
                count = sum(b.numel for b in launch.buffers)
                weighed[tuple(sorted(sizes.items()))] = (count, width)

    def within(factor: int) -> dict[tuple[tuple[str, int], ...], tuple[int, int]]:
        most = (factor * ELEMENTS, factor * THREADS)
        return {s: w for s, w in weighed.items() if w[0] <= most[0] and w[1] <= most[1]}

    kept = within(factor) or (within(16) if or_larger else {})
    return tuple(dict(s) for s in sorted(kept, key=lambda s: (*kept[s], s)))
