"""Symbol values to try when looking for a fault: small ones for index faults, large ones for overflows.

Contract -> assignments that satisfy its preconditions. Small ones come from the caller (the simulator's sampling);
the large ones here are powers of two and their neighbours, log-uniform, largest products first; the problem file's own
values are always among them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from math import prod

from specs.clauses import ClauseError, holds
from specs.contract import Contract

ATTEMPTS = 400


def equal_sizes(contract: Contract, sizes: Iterable[int] = (1, 2, 5, 33)) -> Iterator[dict[str, int]]:
    """Assignments with every size the same small number (scalars at 1)."""
    for size in sizes:
        values = {s.name: size if s.kind == "dim" else 1 for s in contract.symbols}
        values |= {s.name: s.value for s in contract.symbols if s.kind == "scalar" and s.value is not None}
        if _allowed(contract, values):
            yield values


def large_sizes(contract: Contract, count: int = 16, seed: int = 0) -> list[Mapping[str, int]]:
    """Up to ``count`` assignments of large sizes, the problem's own first."""
    rng = random.Random(seed)
    found: dict[tuple[int, ...], dict[str, int]] = {}
    for _ in range(ATTEMPTS):
        values = {}
        for s in contract.symbols:
            if s.kind == "scalar" and s.value is not None:
                values[s.name] = s.value
                continue
            top = s.high if s.high is not None else 1 << 30
            value = (1 << rng.randint(0, 30)) + rng.choice((0, 0, 1, -1))
            if s.kind == "scalar" and rng.random() < 0.5:
                value = rng.choice((0, 1, 2, 3))
            values[s.name] = max(s.low if s.low is not None else int(s.kind == "dim"), min(value, top))
        if _allowed(contract, values):
            found[tuple(values.values())] = values
    best = sorted(found.values(), key=lambda v: -prod(max(abs(x), 1) for x in v.values()))
    problem = {s.name: s.value for s in contract.symbols if s.value is not None}
    if len(problem) == len(contract.symbols) and problem and _allowed(contract, problem):
        best.insert(0, problem)
    return list(best[:count])


def _allowed(contract: Contract, values: Mapping[str, int]) -> bool:
    try:
        return holds(contract, values)
    except (ClauseError, OverflowError):
        return False
