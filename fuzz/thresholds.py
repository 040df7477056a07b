"""Where a kernel changes its rule with the size: conditions on the launch's integers alone -> sizes on both sides.

A kernel that is right for small sizes and takes another way above 100,000 elements is found only by a larger launch.
``widened(...)`` adds such launches to a pool, as far as they can be run, and names the conditions of which no launch that can
be run shows one side. Invariant: every added size satisfies the contract.

Example::

    conditions(kernel, contract)      # {0: "(i32(rows * cols) > 100000)"}
    widened(pool, contract, kernel, seed=0)    # (pool + ({"rows": 1, "cols": 100001},), ())
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzz.sizes import THREADS, ordered
from specs import clauses
from specs.contract import Clause, ConcreteLaunch, Contract
from verifier.ir import nodes as ir

MOST = 16
"""Conditions of one kernel that are looked at."""
FACTOR = 8
"""How much larger than the others an added launch may be."""
_OPS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "//", "rem": "%"}
Sizes = dict[str, int]


@dataclass(frozen=True, slots=True)
class Compares:
    """The comparisons of a kernel, and its variables that have one value."""

    nodes: tuple[ir.Compare, ...]
    known: Mapping[str, ir.Expr]


def compares(kernel: ir.Kernel) -> Compares:
    """Found once for a kernel."""
    values: dict[str, list[ir.Expr]] = {}
    lost: set[str] = set()
    nodes: list[ir.Compare] = []
    for node in _walk(kernel.body):
        match node:
            case ir.Assign(var=var, value=value):
                values.setdefault(var, []).append(value)
            case ir.Load(var=var, parts=parts):
                lost |= {var, *(name for name, _ in parts)}
            case ir.Atomic(var=var) | ir.WarpOp(var=var):
                lost.add(var)
            case ir.Compare():
                nodes.append(node)
            case _:
                pass
    known = {var: v[0] for var, v in values.items() if len(v) == 1 and var not in lost}
    return Compares(tuple(nodes), known)


def conditions(found: Compares, contract: Contract) -> dict[int, str]:
    """Place of the comparison -> clause text, for those that only the launch's integers decide."""
    scalars = {s.param: s.value or "" for s in contract.scalars}
    extents = {"gridDim": contract.launch.grid, "blockDim": contract.launch.block}
    texts = _texts(found, scalars.get, extents)
    return dict([(i, t) for i, t in texts if clauses.names(t)][:MOST])


def decided(found: Compares, launch: ConcreteLaunch) -> Iterator[tuple[int, bool]]:
    """The comparisons that one launch decides."""
    numbers = {p: str(v) for p, v in launch.scalars.items() if isinstance(v, int)}
    extents = {
        "gridDim": tuple(map(str, launch.grid)),
        "blockDim": tuple(map(str, launch.block)),
    }
    yield from ((i, holds(text, {})) for i, text in _texts(found, numbers.get, extents))


def _texts(
    found: Compares, scalar: Callable[[str], str | None], extents: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[int, str]]:
    def text(expr: ir.Expr, depth: int = 0) -> str:
        if depth > 12:
            return ""
        match expr:
            case ir.IntConst(value=value):
                return str(value)
            case ir.Convert(operand=inner, type=ir.Int()):
                return text(inner, depth + 1)
            case ir.Read(name=name, type=ir.Int()):
                said = scalar(name)
                if said is None and name in found.known:
                    return text(found.known[name], depth + 1)
                return said or ""
            case ir.Builtin(name=name):
                what, _, axis = name.partition(".")
                return extents[what]["xyz".index(axis)] if what in extents else ""
            case ir.Binary(op=op, left=left, right=right) if op in _SIGNS:
                a, b = text(left, depth + 1), text(right, depth + 1)
                return f"({a} {_SIGNS[op]} {b})" if a and b else ""
        return ""

    for index, node in enumerate(found.nodes):
        left, right = text(node.left), text(node.right)
        if left and right:
            yield index, f"({left} {_OPS[node.op]} {right})"


def _walk(node: object) -> Iterator[object]:
    if isinstance(node, tuple):
        for item in node:
            yield from _walk(item)
    elif dataclasses.is_dataclass(node):
        yield node
        for field in dataclasses.fields(node):
            yield from _walk(getattr(node, field.name))


def holds(text: str, sizes: Mapping[str, int]) -> bool:
    try:
        return bool(clauses.evaluate(text, sizes))
    except (clauses.ClauseError, clauses.ClauseUndefined):
        return False


def own_sizes(contract: Contract) -> Sizes | None:
    """The problem's own sizes, where they are known and give this launch."""
    own = _values(contract)
    return own if len(own) == len(contract.symbols) and own and _taken(contract, own) else None


def elsewhere(contracts: Sequence[Contract]) -> bool:
    """Whether the problem's own sizes are known to take another way than every launch that was found."""
    lifted = [c for c in contracts if c.origin == "lifted"]
    told = all(s.value is not None for c in lifted for s in c.symbols)
    return bool(lifted) and told and not any(_taken(c, _values(c)) for c in lifted)


def _taken(contract: Contract, own: Sizes) -> bool:
    """Whether the host code launches it; how large the tool's own domain is does not matter."""
    asked = tuple(c for c in contract.requires if c.note != "size cap")
    return clauses.holds(replace(contract, requires=asked), own)


def _values(contract: Contract) -> Sizes:
    return {s.name: s.value for s in contract.symbols if s.value is not None}


def widened(
    pool: tuple[Sizes, ...], contract: Contract, kernel: ir.Kernel, *, seed: int
) -> tuple[tuple[Sizes, ...], tuple[str, ...]]:
    """The pool with sizes on both sides of each condition, smallest first; conditions with a side out of reach."""
    from sanitizers.sampling import small_launches

    more: list[Sizes] = []
    open_: list[str] = []
    texts = conditions(compares(kernel), contract).values() if pool else ()
    for text in dict.fromkeys(side for t in texts for side in (t, f"(not {t})")):
        if any(holds(text, sizes) for sizes in (*pool, *more)):
            continue
        narrowed = replace(contract, requires=(*contract.requires, Clause(text, "derived")))
        try:
            drawn = small_launches(narrowed, count=3, seed=seed, max_threads=FACTOR * THREADS)
        except (clauses.ClauseError, clauses.ClauseUndefined):
            continue
        drawn = drawn or [s for s in _along(pool, contract) if clauses.holds(narrowed, s)]
        reached = ordered(contract, drawn, factor=FACTOR, or_larger=False)
        more += reached[:2]
        if drawn and not reached:
            open_.append(text)
    return (ordered(contract, [*pool, *more], factor=16) if more else pool), tuple(open_)


def _along(pool: tuple[Sizes, ...], contract: Contract) -> Iterator[Sizes]:
    """The problem's own sizes; then one symbol at a time at the powers of two, the others as in the smallest launch."""
    own = own_sizes(contract)
    if own is not None:
        yield own
    for symbol in contract.symbols:
        if symbol.kind == "scalar" and symbol.value is not None:
            continue  # the problem fixes it
        powers = (1 << power for power in range(31))
        yield from ({**pool[0], symbol.name: p} for p in powers if symbol.high is None or p <= symbol.high)
