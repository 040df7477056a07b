"""Sizes of what a kernel writes that, where they are 0, leave no thread: ``out = empty({n, h / 2})``, one thread an element.

Kernel x Contract -> name of a size -> the output that it empties. Read off the grid with every conversion of the host
taken modulo its type, so that nothing here rests on a conversion being exact.

Invariant: at every launch the contract allows, if such a size is 0 then no thread of the kernel runs.

Example: a grid of ``(i32(i32(n * m) * (h / 2)) + 255) / 256`` blocks is empty for ``h / 2 == 0`` even where n * m wraps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from specs.clauses import ClauseError
from specs.contract import Contract
from verifier.ir import nodes as ir
from verifier.smt.terms import Term, TooLarge
from verifier.symex.claims import Claims, Obligation
from verifier.symex.execute import launch_side
from verifier.symex.setup import at_least, early
from verifier.symex.summary import Operation, Summary


class Everything(frozenset[object]):
    """All conversions are taken modulo their types."""

    def __contains__(self, key: object) -> bool:
        return True


def emptying_sizes(kernel: ir.Kernel, contract: Contract, cap: int) -> dict[str, str]:
    """By name, as ``least_sizes`` has them."""
    try:
        s = launch_side(kernel, contract, cap=cap, wrapped=Everything())
    except (ClauseError, TooLarge, RecursionError):
        return {}
    t, out = s.t, dict[str, str]()
    for name in s.outputs:
        extent = s.objects[name].extent
        if extent is None:
            continue
        for size in dict.fromkeys(a for m in t.poly(extent) for a in m):
            if size.op != "app" or size.args or (size.lo is not None and size.lo > 0):
                continue
            at_zero = [_at_zero(s, axis, size) for axis in (*s.raw_grid, extent)]
            if at_zero[-1] is t.zero and any(g.hi is not None and g.hi <= 0 for g in at_zero[:-1]):
                out.setdefault(size.name, name)
    return out


def _at_zero(s: Summary, term: Term, size: Term) -> Term:
    """The term where the size is 0, with what other names stand for in their place."""
    names = {name: what for name, (what, _) in s.definitions.items() if name is not size}
    for _ in range(len(names)):
        plain = s.t.rebuild(term, names.get, {})
        if plain is term:
            break
        term = plain
    return s.t.rebuild(term, {size: s.t.zero}.get, {})


def where_threads_run(c: Claims, op: Operation, o: Obligation, sizes: Mapping[str, str]) -> Obligation | None:
    """The claim on a conversion of the host where no such size is 0; None if there is none that is known before it."""
    t = c.s.t
    known: dict[Term, str] = {}
    for atom in (*c.s.symbols.values(), *c.s.definitions):
        if atom.op == "app" and atom.name in sizes and early(c.s, op.bit, atom):
            known[atom] = sizes[atom.name]
    if not known:
        return None
    positive = [t.le(t.const(least), atom) for atom, least in at_least(c.s, known, op.bit).items()]
    assumes = dict.fromkeys(f"nonempty({name})" for name in known.values())
    return replace(o, facts=(*positive, *o.facts), assumes=tuple(assumes))
