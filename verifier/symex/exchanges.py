"""Partners by exclusive or: ``t ^ j`` is another number for every t, and the partner's partner is t.

Two accesses -> hypotheses for the claim that they do not meet. Invariant: they hold of all numbers: from ``p ^ m == q`` follows
``q ^ m == p``, and from ``p ^ m == q ^ m`` follows ``p == q``.

Example: ``int o = t ^ j; if (o > t) swap(s[t], s[o]);`` with any j: of each pair only one thread goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.smt.terms import Term, atoms
from verifier.symex.claims import Claims
from verifier.symex.summary import Access

MOST = 4
"""Exclusive ors of one access that are compared."""


def partners(c: Claims, a: Access, b: Access, level: int) -> Iterator[Term]:
    """What is known of the partners that two threads' accesses depend on (renamed terms)."""
    t = c.s.t
    mine, others = ([x for x in atoms([y.guard, y.offset]) if _is_xor(x)][:MOST] for y in (a, b))
    for x in mine:
        for y in others:
            if x.name != y.name:
                continue
            r, s = c.rename(x, "1", level), c.rename(y, "2", level)
            for (p, m), (q, n) in zip((r.args, r.args[::-1]), (s.args, s.args[::-1]), strict=True):
                same = t.eq(m, n)
                if same is t.false:
                    continue
                yield t.implies(t.and_(same, t.eq(r, s)), t.eq(p, q))
                yield t.implies(t.and_(same, t.eq(r, q)), t.eq(s, p))
                yield t.implies(t.and_(same, t.eq(s, p)), t.eq(r, q))


def _is_xor(x: Term) -> bool:
    return len(x.args) == 2 and (
        (x.op == "bv" and x.name.startswith("xor")) or (x.op == "app" and x.name.startswith("bitxor:"))
    )
