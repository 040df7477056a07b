"""Digits of mixed-radix numbers: ``i*w + j`` with ``0 <= j < w`` divided by w.

Terms -> quotient and remainder without an atom. Invariant: what is returned is equal to C's division for every valuation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.smt.term import Poly, Term, divide_mono

if TYPE_CHECKING:
    from verifier.smt.terms import Terms


def split(t: Terms, a: Term, b: Term) -> tuple[Term, Term] | None:
    """``a = q*b + r`` read off the polynomial when ``0 <= r < b`` is evident; else None. Needs b > 0."""
    q: Poly = {}
    r: Poly = {}
    pb = t.poly(b)
    if len(pb) != 1:
        if a is b:
            return t.one, t.zero
        return None
    ((mb, cb),) = pb.items()
    for m, c in t.poly(a).items():
        rest = divide_mono(m, mb)
        if rest is not None and c % cb == 0:
            q[rest] = q.get(rest, 0) + c // cb
        else:
            r[m] = r.get(m, 0) + c
    if not q:
        return None
    rest_term = t.from_poly(r)
    if _within(t, rest_term, b):
        return t.from_poly(q), rest_term
    return None


def _within(t: Terms, r: Term, b: Term) -> bool:
    """Whether 0 <= r < b is evident: by intervals, or r is a digit sum below b."""
    if r.lo is None or r.lo < 0:
        return False
    if t.lt(r, b) is t.true:
        return True
    top = r
    for _ in range(6):
        poly = t.poly(top)
        digit = next((a for m in sorted(poly, key=len) for a in m if a.op == "rem" and poly[m] > 0), None)
        if digit is None:
            break
        bound = t.sub(digit.args[1], t.one)
        out: Poly = {}
        for m, c in poly.items():
            if digit in m:
                if c < 0 or m.count(digit) > 1:
                    return False
                others = list(m)
                others.remove(digit)
                for mb, cb in t.poly(bound).items():
                    key = tuple(sorted((*others, *mb), key=lambda t: t.id))
                    out[key] = out.get(key, 0) + c * cb
            else:
                out[m] = out.get(m, 0) + c
        top = t.from_poly(out)
        if t.lt(top, b) is t.true:
            return True
    return False
