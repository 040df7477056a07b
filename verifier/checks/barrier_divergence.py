"""Every barrier is reached by all threads it names: the block for ``__syncthreads``, the mask's lanes for a warp's.

Two threads of a block (of a warp) in the same loop iterations: if one reaches the barrier, so does the other. A thread
that returned before a barrier of its block counts as not reaching it. A warp operation whose mask names lanes that the
launch does not have is a fault too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.smt.terms import Const, Term
from verifier.symex.claims import Claims, Obligation, linear_thread
from verifier.symex.summary import BarrierEvent, Summary
from verifier.symex.values import int_range, shifted

ID = "barrier-divergence"
SUMMARY = "every barrier is reached by all threads it names"
FULL = 0xFFFFFFFF


def applies(s: Summary) -> bool:
    """Whether the kernel has a barrier or warp collective."""
    return bool(s.barriers)


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation a barrier site (two for warp operations)."""
    for event in c.s.barriers:
        match event.kind:
            case "block":
                yield _uniform(c, event, c.s.t.true, "the threads of the block agree on reaching it")
            case "warp":
                yield from _warp(c, event)
            case _:
                yield _whole(c, event)


def _whole(c: Claims, event: BarrierEvent) -> Obligation:
    """A barrier of the grid: blocks agree (threads of one block do by the block's event), and all are there."""
    if not c.s.contract.launch.cooperative:
        made = c.single(ID, event.span, f"all blocks reach {event.what}", (event.guard,), c.s.t.false)
        return replace(made, note=f"unsupported: {event.what} in a launch that is not cooperative")
    return _uniform(c, event, c.s.t.true, "the blocks of the grid agree on reaching it", same_block=False)


def _warp(c: Claims, event: BarrierEvent) -> Iterator[Obligation]:
    t = c.s.t
    size = _tile(c, event.mask)
    if size:
        yield from _tiled(c, event, size)
        return
    if not isinstance(event.mask, Const):
        made = c.single(
            ID, event.span, f"the mask of {event.what} names the lanes that reach it", (event.guard,), t.false
        )
        yield replace(made, note="unsupported: a mask that is not a constant")
        return
    mask = event.mask.value & FULL
    linear = linear_thread(c.s)
    lane, warp = t.rem(linear, t.const(32)), t.quot(linear, t.const(32))
    threads = t.product(c.s.geometry.block)
    if mask != FULL:
        member = t.or_(*(t.eq(lane, t.const(i)) for i in range(32) if mask >> i & 1))
        yield c.single(ID, event.span, f"the mask of {event.what} names its caller", (event.guard,), member)
    top = t.add(t.mul(warp, t.const(32)), t.const(mask.bit_length() - 1 if mask else 0))
    yield c.single(
        ID, event.span, f"every lane in the mask of {event.what} exists", (event.guard,), t.lt(top, threads)
    )
    named = t.true
    if mask != FULL:
        other = c.rename(lane, "2", 2)
        named = t.or_(*(t.eq(other, t.const(i)) for i in range(32) if mask >> i & 1))
    same_warp = t.eq(c.rename(warp, "1", 2), c.rename(warp, "2", 2))
    yield _uniform(c, event, t.and_(same_warp, named), f"the lanes in the mask of {event.what} all reach it")


def _tile(c: Claims, mask: Term | None) -> int:
    """The size of the tile of lanes around the thread that the mask names, or 0."""
    t = c.s.t
    lane = t.rem(linear_thread(c.s), t.const(32))
    for size in (1, 2, 4, 8, 16):
        first = t.sub(lane, t.rem(lane, t.const(size)))
        if mask is t.app(shifted((1 << size) - 1, 32), (first,), 0, *int_range(32, False)):
            return size
    return 0


def _tiled(c: Claims, event: BarrierEvent, size: int) -> Iterator[Obligation]:
    """The lanes of a tile are those whose number in the block has the same quotient by its size."""
    t = c.s.t
    tile = t.quot(linear_thread(c.s), t.const(size))
    last = t.add(t.mul(tile, t.const(size)), t.const(size - 1))
    there = t.lt(last, t.product(c.s.geometry.block))
    yield c.single(ID, event.span, f"every lane in the tile of {event.what} exists", (event.guard,), there)
    together = t.eq(c.rename(tile, "1", 2), c.rename(tile, "2", 2))
    yield _uniform(c, event, together, f"the lanes in the tile of {event.what} all reach it")


def _uniform(
    c: Claims, event: BarrierEvent, together: Term, claim: str, same_block: bool = True
) -> Obligation:
    t, level = c.s.t, 2 if same_block else 1
    same = {k: t.app(f"same:{i}", (), 0, k.lo, k.hi) for i, k in enumerate(event.iters)}
    guard = t.substitute(event.guard, same)
    if guard.level < level:
        return c.single(ID, event.span, claim, (), t.true)
    facts = [t.substitute(f, same) for f in c.facts_for((event.guard,))]
    made = c.two_threads(
        ID,
        event.span,
        claim,
        (guard,),
        (),
        [together],
        c.rename(guard, "2", level),
        same_block,
        barrier=event,
    )
    both = [c.rename(f, s, level) for f in facts for s in ("1", "2")]
    return replace(made, facts=tuple(dict.fromkeys([*made.facts, *both])))
