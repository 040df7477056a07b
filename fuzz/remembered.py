"""Counterexamples of earlier runs, tried first: a kernel that was wrong for a case is asked for it again.

They are cases in JSON (sizes, kinds of values with their seeds, schedule), kept by Hypothesis's folder database under a digest
of the kernel's name and of what it is compared with, so that a corrected text meets them too. Invariant: a case read back is
one that the contract allows now, or is left out; it is run besides the budget, so it can make a verdict worse, never better.

Example::

    store(folder, job, fault.case)
    fetch(folder, job)        # (Case(sizes=(("n", 33),), …),)
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from hypothesis.database import DirectoryBasedExampleDatabase

from fuzz import values
from fuzz.case import Case, Job
from fuzz.sizes import ordered
from fuzz.values import Recipe
from specs import clauses
from specs.contract import Symbol

MOST = 8
"""Cases kept for one kernel and reference."""
_BYTES = 1 << 14
_ORDERS = ("forward", "reverse", "random", "interleaved")


def store(folder: Path, job: Job, case: Case) -> None:
    """Keep a case that failed. A folder that cannot be written keeps nothing."""
    database, key = _database(folder), _key(job)
    text = json.dumps(
        [case.sizes, [[r.kind, r.seed] for r in case.recipes], case.scalars, case.order, case.reuse]
    )
    kept = sorted(database.fetch(key))
    for old in kept[: max(0, len(kept) - MOST + 1)]:
        database.delete(key, old)
    database.save(key, text.encode())


def fetch(folder: Path, job: Job) -> tuple[Case, ...]:
    """The cases that fit the job as it is now."""
    found = []
    for raw in sorted(_database(folder).fetch(_key(job)))[:MOST]:
        try:
            case = _read(json.loads(raw[:_BYTES]))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if _fits(job, case):
            found.append(case)
    return tuple(found)


def _database(folder: Path) -> DirectoryBasedExampleDatabase:
    return DirectoryBasedExampleDatabase(folder)


def _key(job: Job) -> bytes:
    binding = job.binding
    what = [
        job.kernel.name, list(job.kernel.instantiation), binding.text(), sorted(binding.shapes.items()),
        [[operand.name, param] for operand, param in binding.inputs], [s.name for s in job.contract.symbols],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).digest()


def _read(data: Any) -> Case:
    sizes, recipes, scalars, (kind, seed), reuse = data
    if kind not in _ORDERS or reuse not in (True, False):
        raise ValueError(kind)
    return Case(
        tuple(sorted((str(n), int(v)) for n, v in sizes)),
        tuple(Recipe(str(k), int(s) & 0xFFFFFFFF) for k, s in recipes),
        tuple((str(p), float(v)) for p, v in scalars),
        (kind, int(seed) & 0xFF),
        reuse,
    )


def _within(symbol: Symbol, value: int) -> bool:
    return (symbol.low is None or value >= symbol.low) and (symbol.high is None or value <= symbol.high)


def _fits(job: Job, case: Case) -> bool:
    sizes = dict(case.sizes)
    symbols = {s.name: s for s in job.contract.symbols}
    fixed = [s for s in symbols.values() if s.kind == "scalar" and s.value is not None]
    kinds = {*values.ORDINARY, *values.INTEGERS, "problem"}
    if sizes.keys() != symbols.keys() or any(sizes[s.name] != s.value for s in fixed):
        return False
    if any(not _within(s, sizes[s.name]) for s in symbols.values()):
        return False
    if len(case.recipes) != len(job.binding.inputs) or any(r.kind not in kinds for r in case.recipes):
        return False
    if (case.recipes and "problem" in {r.kind for r in case.recipes}) != job.binding.structured:
        return False
    if {p for p, _ in case.scalars} != set(job.binding.drawn.values()):
        return False
    try:
        return bool(ordered(job.contract, [sizes])) and clauses.holds(job.contract, sizes)
    except (clauses.ClauseError, clauses.ClauseUndefined):
        return False
