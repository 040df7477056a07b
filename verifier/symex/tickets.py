"""Tickets: what ``atomicAdd(&counter, c)`` returns is another number for every thread.

Summary, two accesses -> hypotheses for the claim that they do not meet. Invariant: they hold in every execution, given
that nothing but such additions writes the counter (docs/soundness.md, "Tickets").

Example: ``out[atomicAdd(&n, 1)] = x;`` by 2^31 threads at most: no two of them write one element.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.smt.terms import Term, atoms
from verifier.symex.claims import Claims
from verifier.symex.setup import may_alias
from verifier.symex.summary import Access, MemoryObject


def distinct(c: Claims, a: Access, b: Access, level: int) -> Iterator[Term]:
    """What is known of the tickets that two threads' accesses depend on (renamed terms)."""
    t = c.s.t
    mine, others = ([x for x in atoms([y.guard, y.offset]) if x in c.s.tickets] for y in (a, b))
    for x in mine:
        for y in others:
            p, q = c.s.accesses[c.s.tickets[x]], c.s.accesses[c.s.tickets[y]]
            one = p.obj is q.obj and p.obj.space != "local"  # there each thread has a counter of its own
            if not one or (level == 1 and p.obj.space == "shared"):
                continue
            drawn = _drawn(c, p.obj, p.size)
            if drawn is None or p.adds is None or q.adds is None:
                continue
            r, s = c.rename(x, "1", level), c.rename(y, "2", level)
            r_end = t.add(r, c.rename(p.adds, "1", level))
            s_end = t.add(s, c.rename(q.adds, "2", level))
            met = (
                c.rename(p.guard, "1", level),
                c.rename(q.guard, "2", level),
                t.eq(c.rename(p.offset, "1", level), c.rename(q.offset, "2", level)),
                t.le(drawn, t.const(1 << 8 * p.size)),
            )
            whole = t.const(1 << 8 * p.size)
            before = t.and_(t.le(r_end, s), t.le(s_end, t.add(r, whole)))
            after = t.and_(t.le(s_end, r), t.le(r_end, t.add(s, whole)))
            yield t.implies(t.and_(*met), t.or_(before, after))


def _drawn(c: Claims, obj: MemoryObject, size: int) -> Term | None:
    """At most so much is added to a counter by the whole launch; None where something else may write it."""
    t, g = c.s.t, c.s.geometry
    total = t.zero
    for access in c.s.accesses:
        same = access.obj is obj or (
            access.obj.space in ("global", "texture", "surface")
            and obj.space == "global"
            and may_alias(c.s, access.obj, obj)
        )
        if access.kind == "read" or not same:
            continue
        if access.adds is None or access.size != size or (access.scope == "block" and obj.space != "shared"):
            return None
        most, least = access.adds.hi, access.adds.lo
        if most is None or least is None or least < 0:
            return None
        for k in access.iters:
            if k.hi is None:
                return None
            most *= k.hi + 1
        threads = g.block if obj.space == "shared" else (*g.block, *g.grid)
        total = t.add(total, t.mul(t.product(threads), t.const(most)))
    return total
