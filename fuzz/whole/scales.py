"""Smaller sizes for a whole model: problem -> assignments of its top-level integers, promising ones first.

Rule: integers up to 3 stay; larger ones are halved until they are below a cap, odd ones above it become the cap less
one, or all are halved equally often; sizes that only inputs have (a batch, a height) also take odd values. The reference
model decides which assignments are possible.
Invariant: nothing is said here of what is right; deterministic for a seed.

Example::

    next(candidates(problem, seed=0))     # {"batch_size": 8, "in_features": 8, "out_features": 8}
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Iterator, Sequence

from specs import clauses
from verifier.contracts.problem import Argument, Problem
from verifier.source.wrapper import Wrapper

ELEMENTS = 1 << 14
"""Of all inputs together."""
_FREE = (1, 2, 3, 5, 7, 9, 12, 17, 33)
_CAPS = (8, 16, 4, 32, 64)


def candidates(
    problem: Problem, *, seed: int, count: int = 60, extra: Sequence[dict[str, int]] = ()
) -> Iterator[dict[str, int]]:
    """Different assignments whose inputs are small enough. ``extra``: sizes to take besides, after the first two."""
    known = _settable(problem)
    names = [n for n in problem.values if n in known]
    model = {w for a in problem.init for w in _words(a)}
    free = [n for n in names if n in problem.dims and n not in model]
    dice = random.Random(seed)
    seen: set[tuple[int, ...]] = set()
    for sizes in _assignments(problem.values, names, free, dice, count):
        key = tuple(sizes[n] for n in names)
        if key not in seen and _small(problem, sizes):
            seen.add(key)
            yield sizes
            for more in extra if len(seen) == 2 else ():
                wide = {n: more.get(n, sizes[n]) for n in names}
                if _small(problem, wide, 16 * ELEMENTS):
                    yield wide


def _assignments(
    values: dict[str, int], names: list[str], free: list[str], dice: random.Random, count: int
) -> Iterator[dict[str, int]]:
    for index in range(count):
        cap = _CAPS[index // 4 % len(_CAPS)]
        sizes = {n: scaled(values[n], cap) for n in names}
        if index % 4 == 3:  # all by the same factor, which keeps what is a multiple of what
            sizes = {n: values[n] if values[n] <= 3 else max(values[n] >> (index // 4 + 1), 2) for n in names}
            sizes |= {n: min(sizes[n], 2) for n in free[:1]}
        elif index % 4 == 1:
            sizes |= {n: dice.choice(_FREE) for n in free}
        elif index % 4 == 2:
            each = {v: scaled(v, dice.choice(_CAPS)) for v in sorted(set(values.values()))}
            sizes = {n: each[values[n]] for n in names} | {n: dice.choice((1, 2, 3)) for n in free[:1]}
        yield sizes
    for cap in _CAPS:  # the model's own sizes as they are
        yield {n: scaled(values[n], cap) if n in free else values[n] for n in names}


def scaled(value: int, cap: int) -> int:
    """``value`` brought below ``cap``, with as many of its factors of two as fit."""
    if value <= 3:
        return value
    while value > cap and value % 2 == 0:
        value //= 2
    return value if value <= cap else max(cap - 1, 3)


def steps(python: str, problem: Problem) -> list[int]:
    """Numbers that the code around the launches compares something with, and that the problem's own sizes exceed."""
    wrapper = Wrapper.of(python, "", "ModelNew")
    found: dict[int, None] = {}
    for function in wrapper.running if wrapper is not None else ():
        for node in ast.walk(function):
            for part in (node.left, *node.comparators) if isinstance(node, ast.Compare) else ():
                if isinstance(part, ast.Constant) and type(part.value) is int and part.value >= 16:
                    found.setdefault(part.value)
    return [n for n in found if n < problem.largest()]


def beyond(steps_: Sequence[int], problem: Problem) -> list[dict[str, int]]:
    """Sizes just above them, one dim at a time."""
    return [{n: s + 1} for s in steps_ for n in sorted(problem.dims) if problem.values.get(n, 0) > s][:6]


def _small(problem: Problem, sizes: dict[str, int], most: int = ELEMENTS) -> bool:
    total = 0
    for argument in problem.inputs:
        if argument.shape is not None:
            known = {**problem.values, **sizes}
            try:
                total += math.prod(clauses.evaluate(t, known) for t in argument.shape)
            except (clauses.ClauseError, clauses.ClauseUndefined):
                return False
    return total <= most


def _settable(problem: Problem) -> set[str]:
    """Names of the top level, and of the elements of its tuples, as ``fuzz.models`` replaces them."""
    names = set()
    for statement in ast.parse(problem.text).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return {n for n in problem.values if n in names or n.rpartition("_")[0] in names}


def _words(argument: Argument) -> set[str]:
    found = {w for item in argument.items for w in _words(item)}
    return found | (clauses.names(argument.text) if argument.text else set())
