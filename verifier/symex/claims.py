"""Obligations and how they are stated: one claim about one thread, or about two.

Summary -> Obligation. A two-thread claim copies the terms of each side: symbols of level 2 (same block) or of levels 1
and 2 (different blocks) get the suffix of their thread.

Invariant: if ``facts and hyps imply goal`` is valid, the claim holds for every launch the contract allows, given that
the operations of the summary kept their types.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd

from specs.location import Span
from verifier.smt.definitions import closure, conjuncts, quotient_bounds
from verifier.smt.term import Const
from verifier.smt.terms import Mono, Poly, Term, Terms, atoms, divide_mono
from verifier.symex.summary import Access, BarrierEvent, Epoch, Summary

_MOST_ROUNDS = 200
"""Facts about other rounds of loops, for one claim."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """``threads``: the suffixes of the threads it speaks of ("" for one thread). ``about``: accesses or barriers."""

    property: str
    span: Span
    claim: str
    hyps: tuple[Term, ...]
    goal: Term
    facts: tuple[Term, ...]
    lemmas: tuple[Term, ...] = ()
    """Those of ``facts`` that only follow from the others."""
    threads: tuple[str, ...] = ("",)
    accesses: tuple[Access, ...] = ()
    barrier: BarrierEvent | None = None
    same_block: bool = True
    data: tuple[Term, ...] = ()
    """Integer contents of buffers that the claim depends on (read atoms)."""
    note: str = ""
    assumes: tuple[str, ...] = ()
    """Clauses to print where it is what a verdict rests on."""


@dataclass(slots=True)
class Claims:
    """Builds obligations over one summary; remembers facts."""

    s: Summary
    _own: dict[tuple[bool, bool, tuple[Term, ...]], list[Term]] = field(default_factory=dict)
    _known: dict[bool, dict[Term, list[Term]]] = field(default_factory=dict)
    _memos: dict[tuple[str, int], dict[Term, Term]] = field(default_factory=dict)
    _divisors: dict[Term, int] | None = None
    unknowns: dict[int, frozenset[Term]] = field(default_factory=dict)
    """Of the accesses that race claims have looked at, by id."""

    def base(self) -> list[Term]:
        """Preconditions of the launch and what they rest on."""
        return [*self.s.requires]

    def facts_for(self, roots: Iterable[Term], links: bool = True, congruent: bool = False) -> list[Term]:
        """Facts about the roots' atoms (registered and by definition), for one thread.

        ``congruent``: for claims about races, also what repeated reads have in common.
        """
        key = (links, congruent, tuple(roots))
        found = self._own.get(key)
        if found is None:
            if congruent not in self._known:
                self._known[congruent] = self.s.known(congruent)
            known = self._known[congruent] if links else self.s.facts
            found = closure(self.s.t, [*key[2], *self.base()], known)
            found = self._own[key] = [*found, *self._other_rounds(key[2])]
        return found

    def _other_rounds(self, roots: tuple[Term, ...]) -> list[Term]:
        """What is known of other rounds of the loops around a loop on whose number of rounds something depends."""
        t = self.s.t
        todo = [x for x in atoms(roots) if x.name.endswith(":exit") and x not in self.s.facts]
        if not todo:
            return []
        generic = {
            x.name: x
            for x in self.s.facts
            if x.op == "app" and x.args and all(a.op == "app" and not a.args for a in x.args)
        }
        seen = dict.fromkeys(todo)
        out: dict[Term, None] = {}
        for x in todo:  # grows
            known = generic.get(x.name)
            if known is None or len(out) > _MOST_ROUNDS:
                continue
            moved = {k: a for k, a in zip(known.args, x.args, strict=True) if k is not a}
            real = t.and_(*(t.le(t.zero, a) for a in moved.values()))
            made = [t.implies(real, t.substitute(f, moved)) for f in self.s.facts[known]]
            out.update(dict.fromkeys(made))
            more = [y for y in atoms(made) if y.name in generic and y not in self.s.facts and y not in seen]
            seen.update(dict.fromkeys(more))
            todo += more
        return list(out)

    def single(
        self,
        property_: str,
        span: Span,
        claim: str,
        hyps: Iterable[Term],
        goal: Term,
        accesses: tuple[Access, ...] = (),
        links: bool = True,
    ) -> Obligation:
        """A claim about one thread; ``links``: what ties iterations together may be used."""
        hyps = tuple(hyps)
        facts = dict.fromkeys([*self.base(), *self.facts_for((*hyps, goal), links)])
        lemmas = [x for x in quotient_bounds(self.s.t, [*hyps, *facts]) if x not in facts]
        return Obligation(
            property_, span, claim, hyps, goal, (*facts, *lemmas), tuple(lemmas), accesses=accesses,
            data=self.data((*hyps, goal)),
        )  # fmt: skip

    def data(self, roots: Iterable[Term]) -> tuple[Term, ...]:
        """Read atoms among the roots."""
        return tuple(a for a in atoms(roots) if a in self.s.reads)

    def divisor(self, mono: Mono) -> int:
        """A number that divides the monomial: what the contract requires ``a % c == 0`` of its atoms."""
        if self._divisors is None:
            t = self.s.t
            rems = [t.poly(f.args[0]) for f in conjuncts(self.base()) if f.op == "eq0"]
            atoms_ = [m[0] for p in rems if len(p) == 1 for m in p if len(m) == 1 and m[0].op == "rem"]
            self._divisors = {}
            for top, bottom in (a.args for a in atoms_):
                if isinstance(bottom, Const) and bottom.value:
                    self._divisors[top] = math.lcm(bottom.value, self._divisors.get(top, 1))
        return math.prod(self._divisors.get(a, 1) for a in mono)

    def rename(self, term: Term, suffix: str, min_level: int) -> Term:
        """The term as thread ``suffix`` sees it."""
        memo = self._memos.setdefault((suffix, min_level), {})
        return self.s.t.rename(term, suffix, min_level, memo)

    def two_threads(
        self,
        property_: str,
        span: Span,
        claim: str,
        first: Iterable[Term],
        second: Iterable[Term],
        together: Iterable[Term],
        goal: Term,
        same_block: bool,
        accesses: tuple[Access, ...] = (),
        barrier: BarrierEvent | None = None,
        extra: tuple[tuple[Term, ...], tuple[Term, ...]] = ((), ()),
        distinct: Term | None = None,
        assumes: tuple[str, ...] = (),
    ) -> Obligation:
        """A claim about two distinct threads; ``first``/``second`` are hypotheses, unrenamed.

        ``together`` and ``goal`` are renamed already; ``extra`` are the unrenamed terms of each side that they mention,
        whose facts are needed. ``distinct``: what tells the two instances apart, if not the thread.
        """
        t, level = self.s.t, 2 if same_block else 1
        first, second = tuple(first), tuple(second)
        race = property_.startswith("race")
        a = [
            self.rename(x, "1", level)
            for x in (*self.facts_for((*first, *extra[0]), True, race), *self._geometry_facts())
        ]
        b = [
            self.rename(x, "2", level)
            for x in (*self.facts_for((*second, *extra[1]), True, race), *self._geometry_facts())
        ]
        hyps = [self.rename(x, "1", level) for x in first] + [self.rename(x, "2", level) for x in second]
        hyps += [*together, self.distinct(same_block) if distinct is None else distinct]
        facts = dict.fromkeys([*self.base(), *a, *b])
        for known in closure(t, [*facts, *hyps, goal], {}):
            facts[known] = None
        lemmas = tuple(x for x in quotient_bounds(t, [*hyps, *facts]) if x not in facts)
        facts.update(dict.fromkeys(lemmas))
        return Obligation(
            property_, span, claim, tuple(hyps), goal, tuple(f for f in facts if f is not t.true), lemmas, ("1", "2"),
            accesses, barrier, same_block, self.data((*first, *second)), assumes=assumes,
        )  # fmt: skip

    def _geometry_facts(self) -> list[Term]:
        g = self.s.geometry
        return [f for a in (*g.thread, *g.block_index) for f in self.s.facts.get(a, ())]

    def distinct(self, same_block: bool) -> Term:
        """The two threads differ (within a block by thread index, else by block index)."""
        t, g = self.s.t, self.s.geometry
        axes = g.thread if same_block else g.block_index
        level = 2 if same_block else 1
        return t.or_(*(t.ne(self.rename(a, "1", level), self.rename(a, "2", level)) for a in axes))


def linear_thread(s: Summary) -> Term:
    """The thread's linear index in its block."""
    t, g = s.t, s.geometry
    x, y, z = g.thread
    return t.total([x, t.mul(y, g.block[0]), t.mul(z, t.mul(g.block[0], g.block[1]))])


def same_interval(c: Claims, a: tuple[Epoch, ...], b: tuple[Epoch, ...], level: int = 2) -> Term:
    """Whether two threads of a block can stand after the same barrier instance (renamed terms)."""
    t = c.s.t
    parts = []
    for x in a:
        for y in b:
            if x.site != y.site or len(x.iters) != len(y.iters):
                continue
            same = [
                t.eq(c.rename(i, "1", level), c.rename(j, "2", level))
                for i, j in zip(x.iters, y.iters, strict=True)
            ]
            parts.append(t.and_(c.rename(x.cond, "1", level), c.rename(y.cond, "2", level), *same))
    return t.or_(*parts)


def overlap(c: Claims, a: Access, b: Access, level: int) -> Term:
    """The byte ranges of two accesses meet (renamed terms)."""
    t = c.s.t
    x, y = c.rename(a.offset, "1", level), c.rename(b.offset, "2", level)
    d = t.sub(x, y)
    if a.size == b.size and all(k * c.divisor(m) % a.size == 0 for m, k in t.poly(d).items()):
        return t.eq(d, t.zero)
    return t.and_(t.lt(d, t.const(b.size)), t.lt(t.neg(d), t.const(a.size)))


def delinearise(
    t: Terms, d: Term, bounded: BoundsLike, steps: dict[tuple[object, ...], None] | None = None
) -> list[Term]:
    """Consequences of ``d == 0``, by the axes of d and by what the axes are quotients and remainders of.

    With ``q1 == q2`` and ``r1 == r2`` for quotients and remainders of a1 and a2 by the same P also ``a1 == a2``, since
    ``a == P*q + r``. ``steps``: gets what was used, see ``evidence.steps``.
    """
    steps = {} if steps is None else steps
    out = list(dict.fromkeys(_axes(t, d, bounded, steps)))
    whole = unwrapped(t, d)
    if whole is not None:
        out += [t.eq(whole, t.zero), *_axes(t, whole, bounded, steps)]
    for known in out:  # grows
        for rejoined in _rejoined(t, known, out):
            for more in (t.eq(rejoined, t.zero), *_axes(t, rejoined, bounded, steps)):
                if more not in out:
                    out.append(more)
    return out


def unwrapped(t: Terms, d: Term) -> Term | None:
    """For ``d == 0`` with values that wrapped in it: the same without wrapping, equal to a multiple of what they wrap by.

    Each ``wrap(x)`` is ``x - 2**w * q`` for some integer q; one fresh unknown stands for the sum of these multiples.
    """
    exact: Term = t.zero
    step = 0
    for mono, coef in t.poly(d).items():
        (atom,) = mono if len(mono) == 1 else (t.zero,)
        if atom.op == "wrap":
            exact = t.add(exact, t.mul(t.const(coef), atom.args[0]))
            step = gcd(step, coef << int(atom.name[1:]))
        else:
            exact = t.add(exact, t.from_poly({mono: coef}))
    if not step:
        return None
    return t.sub(exact, t.mul(t.const(step), t.app(t.fresh_name("multiple"), (), 2)))


def _rejoined(t: Terms, known: Term, equal: list[Term]) -> Iterator[Term]:
    """a1 - a2 for ``known`` being q1 - q2 == 0, where r1 - r2 == 0 is known too."""
    if known.op != "eq0":
        return
    poly = t.poly(known.args[0])
    atoms = [m[0] for m in poly if len(m) == 1]
    if len(poly) != 2 or len(atoms) != 2 or any(a.op != "quot" for a in atoms):
        return
    first, second = atoms
    same = first.args[1] is second.args[1] and _positive(first.args[1])
    if (
        same
        and poly[(first,)] == -poly[(second,)]
        and t.eq(t.rem(*first.args), t.rem(*second.args)) in (*equal, t.true)
    ):
        yield t.sub(first.args[0], second.args[0])


def _split(t: Terms, poly: Poly, bounded: BoundsLike) -> Poly:
    """Write k*a as k*(P*(a/P) + a%P) where P*(a/P) or a%P occurs as well: so that the remainder is an axis of its own."""
    for r in [m[0] for m in poly if len(m) == 1 and m[0].op == "rem" and m[0].level]:
        top, bottom = r.args
        mono, coef = max(t.poly(top).items(), key=lambda mc: max((a.level for a in mc[0]), default=0))
        times = poly.get(mono, 0)
        if times and times % coef == 0 and (_positive(bottom) or bounded.prove(t.le(t.one, bottom))):
            whole = t.add(t.sub(t.mul(bottom, t.quot(top, bottom)), top), r)
            return _split(t, t.poly(t.add(t.from_poly(poly), t.mul(t.const(times // coef), whole))), bounded)
    for quotient in {a: None for m in poly for a in m if a.op == "quot" and a.level}:
        top, bottom = quotient.args
        mono, coef = max(t.poly(top).items(), key=lambda mc: max((a.level for a in mc[0]), default=0))
        times = poly.get(mono, 0)
        product = t.poly(t.mul(bottom, quotient))
        if not _positive(bottom) or not any(m in poly for m in product) or not times or times % coef:
            continue
        whole = t.add(t.sub(t.mul(bottom, quotient), top), t.rem(top, bottom))
        return _split(t, t.poly(t.add(t.from_poly(poly), t.mul(t.const(times // coef), whole))), bounded)
    return poly


def _positive(divisor: Term) -> bool:
    return divisor.lo is not None and divisor.lo >= 1


def _axes(
    t: Terms, d: Term, bounded: BoundsLike, steps: dict[tuple[object, ...], None], depth: int = 5
) -> Iterator[Term]:
    """Consequences of ``d == 0``: for d = W*X + Y with -W < Y < W shown, X == 0 and Y == 0, recursively."""
    if depth == 0:
        return
    poly = _split(t, t.poly(d), bounded)
    factors: dict[tuple[Term, ...], None] = {}
    sizes = {a: None for mono in poly for a in mono if a.level <= (len(mono) > 1)}
    divisors = {a.args[1] for mono in poly for a in mono if a.op in ("quot", "rem")}
    sizes |= {a: None for mono in poly for a in mono if a in divisors}
    positive = {a for a in sizes if _positive(a) or bounded.prove(t.le(t.one, a))}
    for mono, coef in poly.items():
        uniform = tuple(a for a in mono if a in positive)
        factors |= {(a,): None for a in uniform}
        if len(uniform) > 1:
            factors[uniform] = None
        if abs(coef) > 1:
            factors.setdefault((t.const(abs(coef)),), None)
    for factor in sorted(factors, key=lambda f: (-len(f), [a.id for a in f])):
        w = t.product(factor)
        ((wm, wc),) = t.poly(w).items()
        x: Poly = {}
        y: Poly = {}
        for mono, coef in poly.items():
            rest = divide_mono(mono, wm)
            if rest is not None and coef % wc == 0:
                x[rest] = x.get(rest, 0) + coef // wc
            else:
                y[mono] = coef
        if not x or not y:
            continue
        tx, ty = t.from_poly(x), t.from_poly(y)
        if bounded.prove(t.lt(ty, w)) and bounded.prove(t.lt(t.neg(ty), w)):
            steps["digits", t.from_poly(poly), w, tx, ty] = None
            yield t.eq(tx, t.zero)
            yield t.eq(ty, t.zero)
            yield from _axes(t, tx, bounded, steps, depth - 1)
            yield from _axes(t, ty, bounded, steps, depth - 1)
            return
    if len(poly) and all(m for m in poly):
        common = None
        for mono in poly:
            shared = tuple(a for a in mono if a in positive)
            common = set(shared) if common is None else common & set(shared)
        if common:
            w = t.product(sorted(common, key=lambda a: a.id)[:1])
            ((wm, _),) = t.poly(w).items()
            divided = {divide_mono(m, wm) or (): c for m, c in poly.items()}
            reduced = t.from_poly(divided)
            steps["factor", t.from_poly(poly), w, reduced] = None
            yield t.eq(reduced, t.zero)
            yield from _axes(t, reduced, bounded, steps, depth - 1)


class BoundsLike:
    """What delinearise needs of ``verifier.smt.bounds.Bounds``."""

    def prove(self, goal: Term) -> bool:
        """Whether the goal is shown."""
        raise NotImplementedError
