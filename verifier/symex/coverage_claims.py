"""Which thread writes an element of an output: candidate writers by inverting store index maps, over the whole grid.

For element e of a buffer and a store with index map m(block, thread, iterations), values with m = e are computed, axis by
axis and digit by digit. The claim is about e alone: the values are a thread of the launch in an iteration that it reaches,
and it executes the store.

Sound: the claim, if valid, names a writer of every element. What the writer's guard depends on besides (loads, values of
its block) is renamed to unknowns of its own, so that the claim holds for all their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.smt.terms import Const, Term, atoms, divide_mono
from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Access, MemoryObject, Summary
from verifier.symex.writer_claims import Equation, solve

MOST = 8
"""Groups of stores that are looked at."""


def outputs(s: Summary) -> list[MemoryObject]:
    """Buffers without contents at the launch that the kernel writes."""
    written = dict.fromkeys(a.obj for a in s.accesses if a.kind != "read")
    return [x for x in written if x.buffer is not None and not x.buffer.initialized]


def covered(c: Claims, property_: str, obj: MemoryObject) -> tuple[Obligation, ...]:
    """Claims, any one of which shows that every element of the object is written; the last joins them all."""
    t = c.s.t
    stores = [a for a in c.s.accesses if a.obj is obj and a.kind == "write" and a.agent == "thread"]
    span = stores[0].span if stores else obj.span
    claim = f"every element of {obj.name} is written"
    element = t.app(f"{obj.name}:element", (), 2, 0, None)
    start = t.mul(t.const(obj.elem), element)
    hyps = () if obj.extent is None else (t.le(t.add(start, t.const(obj.elem)), obj.extent),)
    goals: dict[Term, None] = {}
    if obj.elem and obj.extent is not None:
        for group in _groups(stores):
            goal = _goal(c, group, element, start)
            if goal is not None and goal is not t.false:
                goals[goal] = None
    if not goals:
        bare = c.single(property_, span, claim, (), t.false)
        return (replace(bare, note=f"unsupported: no store to {obj.name} whose index can be inverted"),)
    options = [*goals, t.or_(*goals)] if len(goals) > 1 else list(goals)
    return tuple(c.single(property_, span, claim, hyps, goal) for goal in options)


def _groups(stores: list[Access]) -> Iterator[list[Access]]:
    """Stores that differ in their guards alone."""
    groups: dict[tuple[object, ...], list[Access]] = {}
    for a in stores:
        groups.setdefault((a.offset, a.size, a.iters), []).append(a)
    yield from list(groups.values())[:MOST]


def _goal(c: Claims, group: list[Access], element: Term, start: Term) -> Term | None:
    """The claim that a computed instance of the stores writes the element."""
    s, t, store = c.s, c.s.t, group[0]
    size = store.obj.elem
    if any(s.loop_tests[k][1] for k in store.iters) or store.size % size:
        return None
    places = (*s.geometry.thread, *s.geometry.block_index)
    own = [*(x for x in places if x.op == "app"), *store.iters]
    unknowns = {u: u for u in own}
    left = store.offset
    if store.size > size:
        part = t.app("part:writer", (), 2, 0, store.size // size - 1)
        unknowns[part] = part
        left = t.add(left, t.mul(t.const(size), part))
    solved = solve(c, list(_axes(c, left, start, unknowns)), unknowns)
    if solved is None:
        return None
    for u in unknowns:
        solved.setdefault(u, t.zero)
    memo: dict[Term, Term] = {}

    def writer(term: Term) -> Term:
        def leaf(x: Term) -> Term | None:
            if x in solved:
                return solved[x]
            if x is element or x.level == 0:
                return x
            if x.op in ("app", "bapp", "float") and x.flevel >= 1:
                args = tuple(writer(a) for a in x.args)
                name = f"{x.name}!writer"
                if x.op == "app":
                    return t.app(name, args, x.flevel, x.lo, x.hi)
                return t.bapp(name, args, x.flevel) if x.op == "bapp" else t.float(name, args, x.flevel)
            return None

        return t.rebuild(term, leaf, memo)

    goals = [t.or_(*(writer(a.guard) for a in group))]
    extents = (*s.geometry.block, *s.geometry.grid)
    for place, extent in zip(places, extents, strict=True):
        if place in solved:
            goals += [t.le(t.zero, solved[place]), t.lt(solved[place], extent)]
    for k in store.iters:
        goals.append(t.le(t.zero, solved[k]))
        if k.hi is not None:
            goals.append(t.le(solved[k], t.const(k.hi)))
        earlier = t.app(f"{k.name}:earlier", (), 2, 0, k.hi)
        solved[earlier] = earlier
        test = t.substitute(s.loop_tests[k][0], {k: earlier})
        goals.append(t.or_(t.le(solved[k], earlier), writer(test)))
    begin = writer(store.offset)
    end = t.add(begin, t.const(store.size))
    goals += [t.le(begin, start), t.le(t.add(start, t.const(size)), end)]
    return t.and_(*goals)


def _axes(c: Claims, left: Term, right: Term, unknowns: dict[Term, Term]) -> Iterator[Equation]:
    """The equation taken apart where a weight is no multiple of the one below: ``y*W + (bx*16 + tx) = e`` at W.

    Only a proposal: whether ``bx*16 + tx`` stays below W is for the claim to show.
    """
    t = c.s.t
    moving: list[tuple[Term, Term]] = []
    rest = right
    for mono, coef in t.poly(left).items():
        movable = [a for a in mono if any(x in unknowns for x in atoms([a]))]
        if not movable:
            rest = t.sub(rest, t.from_poly({mono: coef}))
            continue
        if len(movable) != 1 or coef < 0:
            yield left, right
            return
        weight = t.from_poly({divide_mono(mono, (movable[0],)) or (): coef})
        moving.append((movable[0], weight))
    moving.sort(key=lambda p: (p[1].hi if p[1].hi is not None else 1 << 62, len(t.poly(p[1])), p[1].id))
    axes: list[list[tuple[Term, Term]]] = []
    for atom, weight in moving:
        if axes and _divides(c, axes[-1][-1][1], weight) is not None:
            axes[-1].append((atom, weight))
        else:
            axes.append([(atom, weight)])
    base: Term = t.one
    for i, axis in enumerate(axes):
        unit = axis[0][1]
        scaled = [(atom, _divides(c, unit, weight)) for atom, weight in axis]
        step = _divides(c, base, unit)
        if step is None or any(w is None for _, w in scaled):
            yield left, right
            return
        rest = t.quot(rest, step)
        value = rest
        if i + 1 < len(axes):
            above = _divides(c, unit, axes[i + 1][0][1])
            if above is None:
                yield left, right
                return
            value = t.rem(rest, above)
        yield t.total(t.mul(atom, w) for atom, w in scaled if w is not None), value
        base = unit


def _divides(c: Claims, small: Term, large: Term) -> Term | None:
    """``large / small`` where that is one product without remainder."""
    t = c.s.t
    if isinstance(small, Const) and small.value == 0:
        return None
    ps, pl = t.poly(small), t.poly(large)
    if len(ps) != 1 or len(pl) != 1:
        return None
    ((ms, cs),), ((ml, cl),) = ps.items(), pl.items()
    rest = divide_mono(ml, ms)
    return t.from_poly({rest: cl // cs}) if rest is not None and cl % cs == 0 else None
