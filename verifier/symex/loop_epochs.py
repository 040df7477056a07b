"""Last barriers around a loop: placeholders at the head of a round -> the barriers that they stand for.

At the head of round k the last barrier is the entry's (k = 0) or one of the end of round k-1 (docs/soundness.md, "Barriers").
"""

from __future__ import annotations

from dataclasses import replace

from verifier.smt.terms import Term, Terms
from verifier.symex.summary import Epoch


def previous(
    t: Terms,
    k: Term,
    entry: tuple[Epoch, ...],
    end: tuple[Epoch, ...],
    place: tuple[Epoch, ...],
    test: Term,
) -> tuple[Epoch, ...]:
    """Possible last barriers at the head of iteration k, which is reached from one that passed the test."""
    real = [e for e in end if e.site != place[0].site]
    out = []
    if len(real) == len(end) and real:
        out += [replace(e, cond=t.and_(e.cond, t.eq(k, t.zero))) for e in entry]
        back = {k: t.sub(k, t.one)}
        later = t.le(t.one, k)
        out += [Epoch(later, e.site, tuple(t.substitute(i, back) for i in e.iters)) for e in real]
    else:
        last = {k: t.sub(k, t.one)}
        passed = t.and_(t.le(t.one, k), t.substitute(test, last))
        none = t.or_(*(t.substitute(e.cond, last) for e in end if e.site == place[0].site))
        idle = t.and_(passed, none)
        out += [replace(e, cond=t.and_(e.cond, t.or_(t.eq(k, t.zero), idle))) for e in entry]
        earlier = t.app(f"earlier:{k.name}", (), 2, 0, k.hi)
        cond = t.and_(t.lt(earlier, k), t.or_(t.and_(passed, t.eq(earlier, t.sub(k, t.one))), idle))
        back = {k: earlier}
        out += [Epoch(cond, e.site, tuple(t.substitute(i, back) for i in e.iters)) for e in real]
    return tuple(out)


def expanded(
    t: Terms, epochs: tuple[Epoch, ...], place: tuple[Epoch, ...], previous: tuple[Epoch, ...]
) -> tuple[Epoch, ...]:
    out: list[Epoch] = []
    for e in epochs:
        if e.site != place[0].site:
            out.append(e)
            continue
        # within this iteration the placeholder stands for ``previous``; inner loops may have shifted conditions
        out += [replace(p, cond=t.and_(e.cond, p.cond)) for p in previous]
    return tuple(out)


def after(
    t: Terms, k: Term, previous: tuple[Epoch, ...], count: Term, broke: list[tuple[Epoch, ...]]
) -> tuple[Epoch, ...]:
    """Possible last barriers after the loop: those of the head of iteration K, or of a break in iteration K."""
    at = {k: count}
    out: dict[tuple[str, tuple[Term, ...]], Term] = {}
    for e in previous:
        key = (e.site, tuple(t.substitute(i, at) for i in e.iters))
        cond = t.substitute(e.cond, at) if not broke else t.true
        out[key] = t.or_(out[key], cond) if key in out else cond
    for epochs in broke:
        for e in epochs:
            out[(e.site, tuple(t.substitute(i, at) for i in e.iters))] = t.true
    return tuple(Epoch(c, site, iters) for (site, iters), c in out.items())
