"""Small launches that a contract allows: contract -> symbol values, by bounded search.

Sizes lie around 0, 1, a warp, a block and the constants of the contract's own clauses; problem values are scaled down
with equal ones kept equal. Invariant: every returned assignment satisfies ``contract.requires`` and gives a launch that
CUDA accepts; deterministic for a seed; the first ones differ in kind (two blocks or more, all sizes one, odd tails).

Example::

    small_launches(contract, count=4, seed=0, max_threads=4096)   # [{"n": 257}, {"n": 1}, {"n": 512}, {"n": 1000}]
    large_launches(contract, count=1, seed=0, least=1 << 31)      # [{"n": 2147483649}]
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from specs.clauses import ClauseError, ClauseUndefined, evaluate, holds, instantiate, names, parse
from specs.contract import Contract, Symbol

_SIZES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 300, 511, 512,
          513, 700, 1000, 1023, 1024, 1025, 2048, 4096)  # fmt: skip
_TINY = (1, 2, 3, 4, 5, 7, 8)
_SCALES = (1, 2, 3, 5, 8, 17, 33, 64, 130, 257)
MOST_ELEMENTS = 1 << 22
"""Of all buffers of one launch together."""
MOST_AT_ALL = 1 << 26
"""Of a launch that is always larger than that: what the simulator knows of each byte has to fit into memory, too."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the search needs to know of a contract, once."""

    symbols: tuple[Symbol, ...]
    clauses: tuple[tuple[str, frozenset[str]], ...]
    equal: Mapping[str, tuple[tuple[str, frozenset[str]], ...]]
    """Symbol -> expressions that it must equal, with the symbols of each."""
    constants: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a launch looks like; launches that differ in it are shown first."""

    blocks: int
    threads: int
    elements: int


def small_launches(
    contract: Contract, *, count: int, seed: int, max_threads: int, edges: bool = False
) -> list[dict[str, int]]:
    """Up to ``count`` assignments; one that is larger than wanted only if nothing smaller was found.

    ``edges``: besides, each open scalar at its lowest, 0 and -1 where the contract allows it.
    """
    plan = _plan(contract)
    rng = random.Random(seed)
    found: dict[tuple[int, ...], tuple[dict[str, int], _Shape]] = {}
    larger: list[tuple[int, dict[str, int]]] = []
    for values in _assignments(plan, rng, attempts=48 + 24 * count):
        key = tuple(values.get(s.name, 0) for s in plan.symbols)
        shape = None if key in found else _shape(contract, values)
        if shape is None or not holds(contract, values):
            continue
        if shape.threads <= max_threads and shape.elements <= MOST_ELEMENTS:
            found[key] = values, shape
        elif shape.elements <= MOST_AT_ALL:
            larger.append((shape.threads + shape.elements, values))
        if len(found) >= 6 * count:
            break
    if not found:
        return [values for _, values in sorted(larger, key=lambda item: item[0])[:1]]
    taken = _varied(list(found.values()), count)
    return [*taken, *(_edges(contract, plan, rng, max_threads, taken) if edges else ())]


def large_launches(contract: Contract, *, count: int, seed: int, least: int) -> list[dict[str, int]]:
    """Up to ``count`` assignments whose largest buffer has more than ``least`` elements, with little work a thread."""
    plan = _plan(contract)
    rng = random.Random(seed)
    found: dict[tuple[int, ...], tuple[dict[str, int], _Shape]] = {}
    most = max(least, 2).bit_length()

    def candidates(symbol: Symbol) -> list[int]:
        if symbol.kind == "scalar" and symbol.value is not None:
            return [symbol.value]
        low = symbol.low if symbol.low is not None else 1
        high = symbol.high if symbol.high is not None else 4 * least
        pool = {(1 << rng.randint(0, most)) + rng.choice((0, 1, -1, 3)) for _ in range(6)} | {low}
        values = [v for v in pool if low <= v <= high] or [low]
        rng.shuffle(values)
        return values

    for _ in range(40 * count):
        for values in _solutions(plan, rng, candidates):
            key = tuple(values.get(s.name, 0) for s in plan.symbols)
            shape = None if key in found else _shape(contract, values)
            if shape is None or not holds(contract, values):
                continue
            if max((b.numel for b in instantiate(contract, values).buffers), default=0) > least:
                found[key] = values, shape
    light = [item for item in found.values() if item[1].elements >> 12 <= item[1].threads]
    return _varied(light or list(found.values()), count)


def _edges(
    contract: Contract, plan: _Plan, rng: random.Random, max_threads: int, taken: list[dict[str, int]]
) -> Iterator[dict[str, int]]:
    for symbol in plan.symbols:
        if symbol.kind != "scalar" or symbol.value is not None:
            continue
        for value in sorted({symbol.low if symbol.low is not None else -1, 0, 1}):
            if (symbol.low is not None and value < symbol.low) or any(t[symbol.name] == value for t in taken):
                continue

            def candidates(other: Symbol, symbol: Symbol = symbol, value: int = value) -> list[int]:
                return [value] if other is symbol else _candidates(plan, other, rng, large=True)

            for values in _solutions(plan, rng, candidates):
                shape = _shape(contract, values) if values[symbol.name] == value else None
                if shape is not None and holds(contract, values) and shape.threads <= max_threads:
                    yield values


def _plan(contract: Contract) -> _Plan:
    clauses: list[tuple[str, frozenset[str]]] = []
    equal: dict[str, list[tuple[str, frozenset[str]]]] = {}
    constants: set[int] = set()
    for clause in contract.requires:
        try:
            clauses.append((clause.text, frozenset(names(clause.text))))
            for part in _conjuncts(parse(clause.text)):
                for name, text in _equalities(part):
                    equal.setdefault(name, []).append((text, frozenset(names(text))))
        except ClauseError:
            continue
    launch = contract.launch
    texts = [c.text for c in contract.requires] + [*launch.grid, *launch.block, launch.shared_bytes]
    for text in texts:
        try:
            values = [n.value for n in ast.walk(parse(text)) if isinstance(n, ast.Constant)]
            constants |= {v for v in values if isinstance(v, int) and 1 < v <= 4096}
        except ClauseError:
            continue
    return _Plan(
        contract.symbols, tuple(clauses), {k: tuple(v) for k, v in equal.items()}, tuple(sorted(constants))
    )


def _conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _conjuncts(value)
    else:
        yield node


def _equalities(node: ast.expr) -> Iterator[tuple[str, str]]:
    """``n == e`` and ``e == n``, also under the conversions i32(n) and the like."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        left, right = node.left, node.comparators[0]
        for one, other in ((left, right), (right, left)):
            while isinstance(one, ast.Call) and len(one.args) == 1:
                one = one.args[0]
            if isinstance(one, ast.Name):
                yield one.id, ast.unparse(other)


def _assignments(plan: _Plan, rng: random.Random, attempts: int) -> Iterator[dict[str, int]]:
    for scale in _SCALES:
        yield from _scaled(plan, scale)
    yield from _solutions(plan, rng, lambda s: [max(1, s.low or 0)])
    for attempt in range(attempts):
        focus = rng.choice(plan.symbols).name if plan.symbols and attempt % 3 else None
        wide = attempt % 3 == 0 and len(plan.symbols) <= 2

        def candidates(symbol: Symbol, focus: str | None = focus, wide: bool = wide) -> list[int]:
            return _candidates(plan, symbol, rng, large=wide or symbol.name == focus)

        yield from _solutions(plan, rng, candidates)


def _scaled(plan: _Plan, scale: int) -> Iterator[dict[str, int]]:
    """The problem's own shape, made small: equal sizes stay equal, different ones stay different if they can."""
    if not any(s.value is not None for s in plan.symbols):
        return
    distinct = sorted({s.value for s in plan.symbols if s.value is not None and s.kind == "dim"})
    small = {v: min(v, scale + i) for i, v in enumerate(distinct)}
    values: dict[str, int] = {}
    for s in plan.symbols:
        fixed = s.value if s.kind == "scalar" else None
        values[s.name] = fixed if fixed is not None else small.get(s.value or 0, min(scale, s.high or scale))
    yield values


def _candidates(plan: _Plan, symbol: Symbol, rng: random.Random, *, large: bool) -> list[int]:
    if symbol.kind == "scalar" and symbol.value is not None:
        return [symbol.value]
    low = symbol.low if symbol.low is not None else 1
    high = symbol.high if symbol.high is not None else 1 << 20
    pool = {*(_SIZES if large else _TINY)}
    for c in plan.constants:
        pool |= {c, c + 1, c - 1} if large or c <= 64 else set()
        pool |= {2 * c, 2 * c + 1, 3 * c} if large else set()
    pool |= {low, low + 1}
    if symbol.value is not None:
        pool |= {min(symbol.value, 64), min(symbol.value, 9)}
    values = [v for v in pool if low <= v <= high]
    rng.shuffle(values)
    return values or [low]


def _solutions(
    plan: _Plan, rng: random.Random, candidates: Callable[[Symbol], list[int]]
) -> Iterator[dict[str, int]]:
    """At most one assignment: depth first, forced symbols first, clauses checked as soon as their symbols have values."""
    order = sorted(plan.symbols, key=lambda s: (len(plan.equal.get(s.name, ())), rng.random()))
    budget = 400
    values: dict[str, int] = {}

    def consistent(name: str) -> bool:
        for text, used in plan.clauses:
            if name in used and used <= values.keys():
                try:
                    if not evaluate(text, values):
                        return False
                except ClauseUndefined:
                    return False
        return True

    def search() -> bool:
        nonlocal budget
        left = [s for s in order if s.name not in values]
        if not left:
            return True
        forced = ((s, _forced(plan, s, values)) for s in left)
        symbol, choice = next(((s, v) for s, v in forced if v), (left[0], []))
        for value in choice or candidates(symbol):
            budget -= 1
            if budget < 0:
                return False
            values[symbol.name] = value
            if consistent(symbol.name) and search():
                return True
            del values[symbol.name]
        return False

    if search():
        yield dict(values)


def _forced(plan: _Plan, symbol: Symbol, values: Mapping[str, int]) -> list[int]:
    for text, used in plan.equal.get(symbol.name, ()):
        if symbol.name not in used and used <= values.keys():
            try:
                return [evaluate(text, values)]
            except ClauseUndefined:
                return []
    return []


def _shape(contract: Contract, values: Mapping[str, int]) -> _Shape | None:
    """None when CUDA would not accept the launch."""
    try:
        launch = instantiate(contract, values)
    except (ClauseError, ClauseUndefined):
        return None
    gx, gy, gz = launch.grid
    bx, by, bz = launch.block
    if (
        min(*launch.grid, *launch.block) < 1
        or bx * by * bz > 1024
        or bz > 64
        or gx >= 1 << 31
        or max(gy, gz) > 65535
    ):
        return None
    if not 0 <= launch.shared_bytes <= 232448 or any(b.numel < 0 for b in launch.buffers):
        return None
    return _Shape(gx * gy * gz, gx * gy * gz * bx * by * bz, sum(b.numel for b in launch.buffers))


def _varied(found: list[tuple[dict[str, int], _Shape]], count: int) -> list[dict[str, int]]:
    """First the smallest with several blocks, then whatever differs most in kind from what was taken."""
    found.sort(key=lambda item: (item[1].threads + item[1].elements, sorted(item[0].items())))
    taken: list[dict[str, int]] = []
    seen: set[str] = set()
    rest = [*found]
    first = next((item for item in rest if item[1].blocks >= 2), None)
    if first is not None:
        rest.remove(first)
        rest.insert(0, first)
    while rest and len(taken) < count:
        best = max(range(len(rest)), key=lambda i: (len(_kinds(*rest[i]) - seen) if taken else -i, -i))
        values, shape = rest.pop(best)
        taken.append(values)
        seen |= _kinds(values, shape)
    return taken


def _kinds(values: Mapping[str, int], shape: _Shape) -> set[str]:
    kinds = {f"blocks:{min(shape.blocks, 3)}"}
    for name, value in values.items():
        kinds.add(f"{name}:{'one' if value == 1 else 'tail' if value % 32 else 'whole'}")
        kinds.add(f"{name}:{value.bit_length() // 3}")
    return kinds
