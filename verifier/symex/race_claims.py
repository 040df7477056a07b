"""Claims about pairs of accesses: no unordered conflict between two threads.

Same block: only pairs that can stand in the same barrier interval (and, for lanes of one warp, in the same
``__syncwarp`` interval). Different blocks: every pair, all intervals; nothing orders plain accesses across blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.smt.terms import Term, atoms
from verifier.symex import exchanges, tickets
from verifier.symex.claims import Claims, Obligation, linear_thread, overlap, same_interval
from verifier.symex.setup import may_alias
from verifier.symex.summary import Access, Epoch, Summary

Claim = Obligation | tuple[Obligation, ...]
"""Alternatives: one of them has to be shown."""


def has_writes(s: Summary, space: str) -> bool:
    """Whether any access goes to the space (that of a surface counts as global)."""
    return any(a.obj.space == space or (space == "global" and a.obj.space == "surface") for a in s.accesses)


def conflicting(s: Summary, a: Access, b: Access) -> bool:
    """Whether two accesses of distinct threads to one byte would be a conflict."""
    if a.kind == "read" and b.kind == "read":
        return False
    return a.obj is b.obj or (a.obj.space in _GLOBAL and may_alias(s, a.obj, b.obj))


_GLOBAL = ("global", "texture", "surface")
"""The memory of textures and surfaces is shared by the whole grid."""


def atomics_ordered(a: Access, b: Access, same_block: bool) -> bool:
    """Two atomics whose scopes cover both threads."""
    if a.kind != "atomic" or b.kind != "atomic":
        return False
    return same_block or (a.scope != "block" and b.scope != "block")


def conflicts(c: Claims, property_: str, space: str) -> Iterator[Claim]:
    """One claim for each pair of sites and each way two threads can meet there."""
    spaces = _GLOBAL if space == "global" else (space,)
    accesses = _distinct_sites([a for a in c.s.accesses if a.obj.space in spaces])
    single_block = all(g is c.s.t.one for g in c.s.geometry.grid)
    single_thread = all(b is c.s.t.one for b in c.s.geometry.block)
    seen: set[object] = set()
    for i, a in enumerate(accesses):
        for b in accesses[i:]:
            if not conflicting(c.s, a, b):
                continue
            if "surface" in (a.obj.space, b.obj.space):
                yield _texels(c, property_, a, b)
                continue
            if a.obj is not b.obj:
                yield _aliased(c, property_, a, b)
                continue
            foreign = a.agent != "thread" or b.agent != "thread"
            if (foreign or not single_thread) and not atomics_ordered(a, b, True):
                yield from _pair(c, property_, a, b, True, seen)
            if space == "global" and not single_block and not atomics_ordered(a, b, False):
                yield from _pair(c, property_, a, b, False, seen)


def _distinct_sites(accesses: list[Access]) -> list[Access]:
    """Without repeats: accesses that agree in everything that a race query reads."""
    seen: dict[tuple[object, ...], Access] = {}
    for a in accesses:
        key = (
            a.kind,
            a.obj.name,
            a.offset,
            a.size,
            a.guard,
            a.block_epochs,
            a.warp_epochs,
            a.grid_epochs,
            a.scope,
            a.volatile,
            a.agent,
            a.origin,
            a.instance,
            a.value if a.kind == "write" else None,
        )
        seen.setdefault(key, a)
    return list(seen.values())


def _aliased(c: Claims, property_: str, a: Access, b: Access) -> Obligation:
    """Two buffers that may be the same memory: nothing is known, so the claim is a missing clause."""
    t = c.s.t
    text = f"{a.obj.name} and {b.obj.name} do not overlap"
    made = c.single(property_, a.span if a.kind != "read" else b.span, text, (a.guard,), t.false, (a, b))
    return replace(made, note=f"disjoint({a.obj.name}, {b.obj.name})")


def _texels(c: Claims, property_: str, a: Access, b: Access) -> Obligation:
    """Which texels a surface access touches is not followed."""
    text = f"the {a.kind} of {a.obj.name} and the {b.kind} of {b.obj.name} do not meet"
    made = c.single(property_, b.span if b.kind != "read" else a.span, text, (a.guard,), c.s.t.false, (a, b))
    surface = a.obj.name if a.obj.space == "surface" else b.obj.name
    return replace(made, note=f"unsupported: which texels of surface {surface} two threads access")


def _pair(
    c: Claims, property_: str, a: Access, b: Access, same_block: bool, seen: set[object]
) -> Iterator[Claim]:
    """``seen``: what was claimed of earlier pairs; rows at equal distances ask the same again and again."""
    t = c.s.t
    level = 2 if same_block else 1
    together: list[Term] = []
    if same_block and "async" not in (a.agent, b.agent):
        meet = same_interval(c, a.block_epochs, b.block_epochs)
        if meet is t.false:
            return
        together.append(meet)
        if _has_warp_sync(a.warp_epochs) or _has_warp_sync(b.warp_epochs):
            together.append(_unordered_in_warp(c, a, b))
    if not same_block and "async" not in (a.agent, b.agent):
        meet = same_interval(c, a.grid_epochs, b.grid_epochs, level)
        if meet is t.false:
            return
        if meet is not t.true:
            together.append(meet)
    hit = overlap(c, a, b, level)
    if hit is t.false:
        return
    together += tickets.distinct(c, a, b, level)
    together += exchanges.partners(c, a, b, level)
    where = "of one block" if same_block else "of different blocks"
    claim = f"the {a.kind} and the {b.kind} of {a.obj.name} by two threads {where} do not meet"
    first, second = _read(a), _read(b)
    bools1 = tuple(x for x in first if x.is_bool)[:1]
    bools2 = tuple(x for x in second if x.is_bool)[:1]
    foreign = same_block and (a.agent != "thread" or b.agent != "thread")
    valued = c.s.same_value and a.kind == b.kind == "write"
    if not foreign and not valued:
        key = (same_block, bools1, bools2, *together, hit, _unknowns(c, a), _unknowns(c, b))
        if key in seen:
            return
        seen.add(key)
    made = c.two_threads(
        property_, b.span if b.kind != "read" else a.span, claim, bools1, bools2, [*together, hit], t.false, same_block,
        (a, b), extra=((*first,), (*second,)), distinct=_instances_differ(c, a, b) if foreign else None,
    )  # fmt: skip
    equal = _equal_stores(c, a, b, level) if valued else t.false
    if equal is t.false or foreign or a.value is None or b.value is None:
        yield made
        return
    yield made, c.two_threads(
        property_, made.span, claim, bools1, bools2, [*together, hit], equal, same_block, (a, b),
        extra=((*first, a.value), (*second, b.value)), assumes=(f"same_value({a.obj.name})",),
    )  # fmt: skip


def _equal_stores(c: Claims, a: Access, b: Access, level: int) -> Term:
    """The two stores write the same bytes to the same place (renamed terms).

    Results of float operations are not compared: two places of the text may be rounded or contracted differently.
    """
    t = c.s.t
    x, y = a.value, b.value
    if x is None or y is None or a.size != b.size:
        return t.false
    x, y = c.rename(x, "1", level), c.rename(y, "2", level)
    if x.op == "float" or y.op == "float":
        same = t.true if x is y and not x.args else t.false
    elif x.is_bool or y.is_bool:
        both = x.is_bool and y.is_bool
        same = t.or_(t.and_(x, y), t.and_(t.not_(x), t.not_(y))) if both else t.false
    else:
        same = t.eq(x, y)
    return t.and_(t.eq(c.rename(a.offset, "1", level), c.rename(b.offset, "2", level)), same)


def _read(a: Access) -> tuple[Term, ...]:
    """The terms of an access that a race query reads."""
    return (a.guard, a.offset, *_terms(a.block_epochs), *_terms(a.warp_epochs), *_terms(a.grid_epochs))


def _unknowns(c: Claims, a: Access) -> frozenset[Term]:
    """What facts can be about that a claim on the access may use."""
    found = c.unknowns.get(id(a))
    if found is None:
        found = c.unknowns[id(a)] = frozenset(x for x in atoms(_read(a)) if x.op != "poly")
    return found


def _instances_differ(c: Claims, a: Access, b: Access) -> Term:
    """An access that is not performed by the thread itself conflicts with the thread's own accesses too."""
    t = c.s.t
    if a is not b and (a.origin != b.origin or a.origin < 0):
        return t.true
    mine, others = (a.iters, b.iters) if a.origin < 0 else (a.instance, b.instance)
    other = (t.ne(c.rename(i, "1", 2), c.rename(j, "2", 2)) for i, j in zip(mine, others, strict=True))
    return t.or_(c.distinct(True), *other)


def _terms(epochs: tuple[Epoch, ...]) -> list[Term]:
    return [x for e in epochs for x in (e.cond, *e.iters)]


def _has_warp_sync(epochs: tuple[Epoch, ...]) -> bool:
    return any(True for e in epochs if e.site != "entry")


def _unordered_in_warp(c: Claims, a: Access, b: Access) -> Term:
    """Lanes of one warp must also stand after the same ``__syncwarp``; other warps are not ordered by it."""
    t = c.s.t
    if a.warp_epochs == a.block_epochs and b.warp_epochs == b.block_epochs:
        return t.true
    lane = t.quot(linear_thread(c.s), t.const(32))
    same_warp = t.eq(c.rename(lane, "1", 2), c.rename(lane, "2", 2))
    return t.implies(same_warp, same_interval(c, a.warp_epochs, b.warp_epochs))
