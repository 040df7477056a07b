"""In which order a number is divided by the factors of a product: ``i / (p*q*r)`` by digits.

Invariant: every order is right, ``a/(b*c) = (a/b)/c`` and ``a%(b*c) = a%b + b*((a/b)%c)`` for a >= 0 and b, c > 0. It only
decides which quotients are one atom: a kernel that divides by ``p*q*r`` and what is left by ``q*r`` wants ``q*r`` first,
and that is not known at the first division. So divisors are noted; if one of them lay across an order that was taken, the kernel
is executed again with these notes.

Example: after ``i % d``, ``i / (n*d)`` is ``(i/d) / n``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from verifier.smt.term import Const, Mono, Term, show

if TYPE_CHECKING:
    from verifier.smt.terms import Terms

Key = tuple[int, tuple[str, ...]]
"""A product of sizes, by name."""
Note = tuple[str, Key]
"""What was divided, and by which product."""


class Radices:
    """``order``: the notes of an earlier execution."""

    def __init__(self, order: frozenset[Note] = frozenset()) -> None:
        self.order = order
        self.seen: dict[Note, None] = {}
        self.crossed = False
        self._taken: dict[Key, set[Key]] = {}

    def note(self, t: Terms, a: Term, b: Term) -> None:
        """A division of the kernel."""
        key = _key(t, b)
        if key is None or (show(a), key) in self.seen:
            return
        self.seen[show(a), key] = None
        self.crossed |= any(_divides(key, whole) and key not in steps for whole, steps in self._taken.items())

    def take(self, t: Terms, b: Term, parts: list[Term]) -> None:
        """The order in which b was taken apart."""
        whole, product, steps = _key(t, b), t.one, set[Key]()
        for part in parts:
            product = t.mul(product, part)
            key = _key(t, product)
            if key is not None:
                steps.add(key)
        if whole is not None:
            self._taken[whole] = steps
            self.crossed |= any(_divides(key, whole) and key not in steps for _, key in self.seen)

    def chain(self, t: Terms, a: Term, b: Term) -> list[Term]:
        """The parts of b, innermost first, if the notes tell; else nothing."""
        whole = _key(t, b)
        if whole is None or not self.order:
            return []
        what = show(a)
        for notes in ({k for x, k in self.order if x == what}, {k for _, k in self.order}):
            inner = sorted((k for k in notes if _divides(k, whole)), key=lambda k: (len(k[1]), k[0]))
            if inner and all(_divides(x, y) for x, y in pairwise(inner)):
                return [_part(t, b, x, y) for x, y in zip([(1, ()), *inner], [*inner, whole], strict=True)]
        return []


def divide_by_product(t: Terms, a: Term, factors: Mono, coef: int) -> tuple[Term, Term]:
    """a / (f1*f2*…) = ((a/f1)/f2)…; the order follows the notes, else quotients seen before."""
    b = t.from_poly({factors: coef})
    chain = t.radices.chain(t, a, b)
    left = chain or ([t.const(coef)] if coef > 1 else []) + list(factors)
    q, r, weight, parts = a, t.zero, t.one, list[Term]()
    while left:
        best = left[0] if chain else _next(t, q, left)
        left.remove(best)
        q, digit = t.divide(q, best)
        r = t.add(r, t.mul(weight, digit))
        weight = t.mul(weight, best)
        parts.append(best)
    t.radices.take(t, b, parts)
    return q, r


def _next(t: Terms, q: Term, left: list[Term]) -> Term:
    known = next((f for f in left if t.has_quotient(q, f)), None)
    return known or _known_divisor(t, q, left) or left[-1]


def _known_divisor(t: Terms, q: Term, left: list[Term]) -> Term | None:
    """A divisor of the number among the factors by which q was divided before; the number is split there."""
    number = left[0].value if isinstance(left[0], Const) else 1
    for d in range(2, min(number // 2, 64) + 1):
        if number % d == 0 and t.has_quotient(q, t.const(d)):
            left[:1] = [t.const(d), t.const(number // d)]
            return left[0]
    return None


def _key(t: Terms, b: Term) -> Key | None:
    poly = t.poly(b)
    if len(poly) != 1:
        return None
    ((mono, coef),) = poly.items()
    if coef < 1 or any(x.op != "app" or x.level for x in mono):
        return None
    return coef, tuple(sorted(show(x) for x in mono))


def _divides(key: Key, whole: Key) -> bool:
    """Whether one product is a proper part of the other."""
    left = list(whole[1])
    for name in key[1]:
        if name not in left:
            return False
        left.remove(name)
    return key != whole and whole[0] % key[0] == 0 and key != (1, ())


def _part(t: Terms, b: Term, inner: Key, outer: Key) -> Term:
    """What is between two parts of b."""
    named = {show(x): x for m in t.poly(b) for x in m}
    names = list(outer[1])
    for name in inner[1]:
        names.remove(name)
    return t.mul(t.const(outer[0] // inner[0]), t.product(named[name] for name in names))
