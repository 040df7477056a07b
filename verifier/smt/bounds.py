"""Discharge without a solver: polynomial inequalities by adding up known ones.

``prove(t, facts, goal)`` tries to show that the facts imply the goal. To show p <= 0 it repeatedly picks a monomial of
p with a positive coefficient and a known h <= 0 that has a monomial dividing it, and continues with c'*p - m*h, where
the multiplier m is a product of atoms known non-negative. It ends when the constant intervals show p <= 0.

Sound because p' = c'*p - m*h <= 0 with c' > 0, m >= 0 and h <= 0 gives c'*p <= m*h <= 0.

Example: from w <= W-1, h <= H-1 shows h*W + w <= H*W - 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from math import prod

from verifier.smt.definitions import conjuncts
from verifier.smt.term import Const
from verifier.smt.terms import Mono, Poly, Term, Terms, divide_mono

Why = tuple[object, ...]
"""A step as a lemma of its own, see ``evidence.steps``: what was multiplied or enlarged."""
NODES = 300
LINEAR_NODES = 40
DEPTH = 10
FOCUSED_NODES = 80
FOCUSED_DEPTH = 20
SMALL = 4096
"""A counter whose interval ends here or below is bounded by it as well as by what is known of it."""


Step = tuple[Poly, Mono, tuple[Mono, Mono] | None]
"""A known inequality, what it was multiplied by, and a product that was enlarged first."""


class Bounds:
    """Known inequalities, indexed by the monomials they bound from above. ``quick``: for a short search."""

    def __init__(self, t: Terms, facts: Iterable[Term], quick: bool = False) -> None:
        self.t, self.quick = t, quick
        self.used: dict[Why, None] = {}
        """The nonlinear steps of what was shown."""
        self.given = tuple(facts)
        self.known: list[Poly] = []
        self.disequal: dict[Term, None] = {}
        self.facts: set[Term] = set()
        self.contradiction = False
        clauses = [f for f in conjuncts(self.given) if not self._fact(f)]
        for _ in range(4):
            left = [c for c in clauses if not self._unit(c)]
            if len(left) == len(clauses):
                break
            clauses = left
        self._strengthen()
        self._multiples()
        self.linear = all(len(m) <= 1 for p in self.known for m in p)
        """No products: the solver is quick then, so that the search here is kept short."""
        self.by_mono: dict[Mono, list[Poly]] = {}
        for p in self.known:
            for m, c in p.items():
                if m and c > 0:
                    self.by_mono.setdefault(m, []).append(p)
        for m in self.by_mono:
            self.by_mono[m].sort(key=len)
        self._nonneg: dict[Term, bool] = {}
        self._least: dict[Term, int] = {}
        for p in self.known:
            for m, c in p.items():
                if len(p) == 2 and len(m) == 1 and c < 0 < p.get((), 0):
                    self._least[m[0]] = max(self._least.get(m[0], 1), -(-p[()] // -c))
        self._shown: dict[Term, bool] = {}
        self._digits: list[tuple[Term, set[Term]]] | None = None
        self._numbers, self._weight = False, 2

    def _fact(self, f: Term) -> bool:
        """Take in a fact; False for a disjunction, which may become a unit later."""
        self.facts.add(f)
        if f is self.t.false or self.t.not_(f) in self.facts:
            self.contradiction = True
        match f.op:
            case "le0":
                self._learn(self.t.poly(f.args[0]))
            case "eq0":
                p = self.t.poly(f.args[0])
                self._learn(p)
                self._learn({m: -c for m, c in p.items()})
            case "not" if f.args[0].op == "eq0":
                self.disequal[f.args[0].args[0]] = None
            case "or":
                return False
        return True

    def _unit(self, clause: Term) -> bool:
        """Unit propagation by identity: a disjunction all of whose parts but one contradict known facts."""
        left = [c for c in clause.args if self.t.not_(c) not in self.facts]
        if len(left) == 1:
            for f in conjuncts(left):
                self._fact(f)
        elif not left:
            self.contradiction = True
        return len(left) <= 1

    def _learn(self, p: Poly) -> None:
        if p and len(p) <= 12 and p not in self.known:
            self.known.append(p)

    def _strengthen(self) -> None:
        """p <= 0 and p != 0 give p + 1 <= 0 (both signs)."""
        for d in self.disequal:
            for p in (self.t.poly(d), self.t.poly(self.t.neg(d))):
                if p in self.known:
                    q = dict(p)
                    q[()] = q.get((), 0) + 1
                    self.known.append({m: c for m, c in q.items() if c})

    def _multiples(self) -> None:
        """a % c == 0 and a >= 1 give a >= c."""
        for p in list(self.known):
            ((mono, coef), *more) = p.items()
            if more or coef != 1 or len(mono) != 1 or mono[0].op != "rem":
                continue
            top, bottom = mono[0].args
            if isinstance(bottom, Const) and top.lo is not None and 1 <= top.lo < bottom.value:
                self._learn(self.t.poly(self.t.sub(bottom, top)))

    def nonneg(self, atom: Term) -> bool:
        """Whether the atom is known >= 0: by its interval or by one known inequality."""
        if atom.lo is not None and atom.lo >= 0:
            return True
        found = self._nonneg.get(atom)
        if found is None:
            self._nonneg[atom] = False
            found = any(p.get((atom,), 0) == -1 and self._rest_nonneg(p, atom) for p in self.known)
            self._nonneg[atom] = found
        return found

    def least(self, atom: Term) -> int:
        """A number >= 0 that the atom is known not to be below; 0 where that is not known."""
        return max(atom.lo or 0, self._least.get(atom, 0))

    def _rest_nonneg(self, p: Poly, atom: Term) -> bool:
        # p = rest - atom <= 0, so atom >= rest
        rest = {m: c for m, c in p.items() if m != (atom,)}
        return all(c >= 0 and all(self.nonneg(a) for a in m) for m, c in rest.items())

    def _bounded(self, p: Poly) -> bool:
        if all(c <= 0 and all(self.nonneg(a) for a in m) for m, c in p.items()):
            return True
        hi = self.t.from_poly(p).hi
        return (hi is not None and hi <= 0) or self._absorbed(p)

    def _absorbed(self, p: Poly) -> bool:
        """Whether each positive monomial m is covered by negative ones m*e with factors e >= 1."""
        left = {m: -c for m, c in p.items() if c < 0 and all(self.nonneg(a) for a in m)}
        if any(c < 0 and m not in left for m, c in p.items()):
            return False
        for m, c in p.items():
            if c <= 0:
                continue
            if not all(self.nonneg(a) for a in m):
                return False
            for larger in sorted(left, key=len):
                extra = divide_mono(larger, m)
                if extra is not None and all(a.lo is not None and a.lo >= 1 for a in extra):
                    used = min(c, left[larger])
                    left[larger] -= used
                    c -= used
            if c > 0:
                return False
        return True

    def le0(self, goal: Term) -> bool:
        """Whether goal <= 0 is shown.

        Threads' indices are bounded by numbers where nothing else is known of them; then also where only other indices bound
        them.
        """
        start = self.t.poly(goal)
        if self._bounded(start):
            self._note(start, ())
            return True
        self._asked = self._digits_of({a for m in start for a in m})
        if self.linear:
            return self._search(start, LINEAR_NODES, DEPTH, focused=False, numbers=False, weight=2)
        for numbers in (False, True):
            if self._search(start, FOCUSED_NODES, FOCUSED_DEPTH, focused=True, numbers=numbers):
                return True
        if self.quick:
            return False
        digits, self._asked = self._asked, {a for m in start for a in m}
        if self._search(start, NODES, DEPTH, focused=False, numbers=False):
            return True
        self._asked = digits
        return self._search(start, NODES, DEPTH, focused=False, numbers=True)

    def _search(
        self, start: Poly, nodes: int, most: int, *, focused: bool, numbers: bool, weight: int | None = None
    ) -> bool:
        """Best first: fewest monomials that still have to be bounded. ``weight``: that of a positive constant."""
        self._numbers = numbers
        self._weight = 2 * (focused or numbers) if weight is None else weight
        heap: list[tuple[int, int, int, int, Poly, tuple[Step, ...]]] = [(0, 0, 0, 0, start, ())]
        seen = {frozenset(start.items())}
        count = 0
        for _ in range(nodes):
            if not heap:
                return False
            _, _, depth, _, p, way = heappop(heap)
            for q, why in self._steps(p, focused):
                key = frozenset(q.items())
                if key in seen:
                    continue
                seen.add(key)
                if self._bounded(q):
                    self._note(q, (*way, why))
                    return True
                if depth + 1 < most:
                    count += 1
                    heappush(heap, (self._open(q), len(q), depth + 1, count, q, (*way, why)))
        return False

    def _note(self, last: Poly, way: Iterable[Step]) -> None:
        """Remember the steps that are more than adding up."""
        t = self.t
        for h, factor, raised in way:
            if factor:
                self.used["product", t.from_poly(h), *factor] = None
            if raised is not None:
                less, greater = raised
                extra = [(a, self.least(a)) for a in divide_mono(greater, less) or ()]
                smaller = t.from_poly({less: prod(k for _, k in extra)})
                pairs = (x for a, k in extra for x in (a, t.const(k)))
                self.used["larger", smaller, t.from_poly({greater: 1}), *pairs] = None
        if any(len(m) > 1 for m in last):
            signs = tuple(a for a in dict.fromkeys(a for m in last for a in m) if self.nonneg(a))
            self.used["last", t.from_poly(last), *signs] = None

    def _digits_of(self, asked: set[Term]) -> set[Term]:
        """With the quotients and remainders of what the goal is about, and theirs: bounds on an index are stated in them."""
        if self._digits is None:
            found = {a for p in self.known for m in p for a in m if a.op in ("quot", "rem")}
            self._digits = [
                (a, {x for m in self.t.poly(a.args[0]) for x in m}) for a in sorted(found, key=lambda a: a.id)
            ]
        for digit, of in self._digits:  # a digit of a digit comes later
            if of and of <= asked:
                asked.add(digit)
        return asked

    def _open(self, p: Poly) -> int:
        """How many monomials of p are not evidently <= 0."""
        still = sum(1 for m, c in p.items() if m and (c > 0 or not all(self.nonneg(a) for a in m)))
        still += self._weight * (p.get((), 0) > 0)
        return still + sum(2 for m in p for a in m if a.op in ("quot", "rem") and a not in self._asked)

    def _steps(self, p: Poly, focused: bool) -> Iterator[tuple[Poly, Step]]:
        """``focused``: only those that get rid of one monomial, since each has to go; they may cancel others as well."""
        positive = [(m, c) for m, c in p.items() if m and c > 0]
        positive.sort(key=lambda mc: (len(mc[0]), tuple(-a.level for a in mc[0])))
        negative = [(m, c) for m, c in p.items() if m and c < 0 and not all(self.nonneg(a) for a in m)]
        varying = [(m, c) for m, c in positive if any(a.level for a in m)]
        sizes = [(m, c) for m, c in positive if not any(a.level for a in m)]
        # sizes are bounded last: what bounds a thread's index is stated in them
        constant = (
            [(m, c) for m, c in p.items() if m and c < 0][:4] if p.get((), 0) > 0 and not positive else []
        )
        for group in (varying[:6] + negative[:3], sizes[:5], constant):
            found = False
            for mono, coef in group:
                for step in self._steps_at(p, mono, coef):
                    found = True
                    yield step
                if found and focused:
                    return
            if found:
                return

    def _steps_at(self, p: Poly, mono: Mono, coef: int) -> Iterator[tuple[Poly, Step]]:
        for h, factor, own in self._candidates(mono, coef):
            step = self._step(p, h, mono, coef, factor, own)
            if step is not None:
                yield step, (h, factor, None)
        if coef > 0:
            yield from self._raised(p, mono, coef)
            yield from self._scaled(p, mono, coef)

    def _scaled(self, p: Poly, mono: Mono, coef: int) -> Iterator[tuple[Poly, Step]]:
        """With h = c + … <= 0, c > 0: the monomial is cancelled by m*h when that meets other monomials of p too."""
        if not all(self.nonneg(a) for a in mono):
            return
        for h in self.known:
            own = h.get((), 0)
            if own > 0 and any(m and tuple(sorted(m + mono, key=lambda t: t.id)) in p for m in h):
                step = self._step(p, h, mono, coef, mono, own)
                if step is not None:
                    yield step, (h, mono, None)

    def _raised(self, p: Poly, mono: Mono, coef: int) -> Iterator[tuple[Poly, Step]]:
        """k*m <= m*e for factors e >= k >= 1 (and m >= 0): so that a bound on a larger product serves for its parts."""
        if not all(a.level == 0 and self.nonneg(a) for a in mono):
            return
        for larger, known in self.by_mono.items():
            extra = divide_mono(larger, mono)
            if not extra or not all(self.least(a) for a in extra):
                continue
            times = prod(map(self.least, extra))
            raised = {m: c * times for m, c in p.items()}
            del raised[mono]
            raised[larger] = raised.get(larger, 0) + coef
            for h in known[:3]:
                if raised[larger] > 0:
                    step = self._step(raised, h, larger, raised[larger], (), h[larger])
                    if step is not None:
                        yield step, (h, (), (mono, larger))

    def _candidates(self, mono: Mono, coef: int) -> list[tuple[Poly, Mono, int]]:
        out: list[tuple[Poly, Mono, int]] = []
        if coef > 0:
            varies = any(a.level for a in mono)
            subs = {(a,) for a in mono} | {mono}
            if len(mono) > 2:
                subs |= {
                    tuple(sorted((a, b), key=lambda t: t.id))
                    for i, a in enumerate(mono)
                    for b in mono[i + 1 :]
                }
            for sub in sorted(subs, key=lambda m: (-len(m), tuple(-a.id for a in m))):
                if varies and not any(a.level for a in sub):
                    continue
                rest = divide_mono(mono, sub)
                if rest is None or not all(self.nonneg(a) for a in rest):
                    continue
                known = self.by_mono.get(sub, [])[:8]
                hi = sub[0].hi if len(sub) == 1 and sub[0].level else None
                if hi is not None:
                    number = {sub: 1, (): -hi} if hi else {sub: 1}
                    if self._numbers and not self._by_sizes(sub[0], known):
                        known = [number]
                    elif not known or (sub[0].op == "app" and hi <= SMALL):
                        known = [*known, number]
                out.extend((h, rest, h[sub]) for h in known)
        else:
            for h in self.known:
                own = h.get(mono, 0)
                if own < 0:
                    out.append((h, (), own))
            out.extend(self._from_below(mono))
        return out

    @staticmethod
    def _by_sizes(atom: Term, known: Iterable[Poly]) -> bool:
        """Whether one of the bounds is made of what varies less than the atom: better than a number then."""
        return any(all(a.level < atom.level for m in h if m != (atom,) for a in m) for h in known)

    def _from_below(self, mono: Mono) -> Iterator[tuple[Poly, Mono, int]]:
        """Lower bounds of the one factor of a monomial whose sign is open."""
        signed = [a for a in mono if not self.nonneg(a)]
        if len(mono) < 2 or len(signed) != 1:
            return
        (atom,) = signed
        rest = divide_mono(mono, (atom,)) or ()
        for h in self.known:
            if h.get((atom,), 0) < 0:
                yield h, rest, h[(atom,)]
        if atom.lo is not None:
            yield {(): atom.lo, (atom,): -1} if atom.lo else {(atom,): -1}, rest, -1

    def _step(self, p: Poly, h: Poly, mono: Mono, coef: int, factor: Mono, own: int) -> Poly | None:
        scale, times = abs(own), abs(coef)
        if scale == times:
            scale = times = 1
        elif times % scale == 0:
            scale, times = 1, times // scale
        out = {m: c * scale for m, c in p.items()}
        for m, c in h.items():
            key = tuple(sorted(m + factor, key=lambda t: t.id))
            if len(key) > 12:
                return None
            out[key] = out.get(key, 0) - c * times
        out = {m: c for m, c in out.items() if c}
        return out if len(out) <= 40 else None

    def prove(self, goal: Term) -> bool:
        """Whether the facts are shown to imply the goal (False: not shown)."""
        t = self.t
        if self.contradiction or goal is t.true or goal in self.facts:
            return True
        found = self._shown.get(goal)
        if found is None:
            found = self._shown[goal] = self._prove(goal)
        return found

    def _prove(self, goal: Term) -> bool:
        t = self.t
        match goal.op:
            case "le0":
                return self.le0(goal.args[0])
            case "and":
                return all(self.prove(g) for g in goal.args)
            case "or":
                return any(self.prove(g) for g in goal.args) or self._one_of(goal.args)
            case "eq0":
                return self.le0(goal.args[0]) and self.le0(t.neg(goal.args[0]))
            case "not" if goal.args[0].op == "eq0":
                p = goal.args[0].args[0]
                return self.le0(t.add(p, t.one)) or self.le0(t.sub(t.one, p))
            case _:
                return False

    def _one_of(self, goals: tuple[Term, ...]) -> bool:
        """A disjunction whose last part follows where the others fail (any part may be the last)."""
        if len(goals) > 3:
            return False
        for last in reversed(goals):
            others = [self.t.not_(g) for g in goals if g is not last]
            inner = Bounds(self.t, [*others, *self.given], self.quick)
            if inner.prove(last):
                self.used |= inner.used
                return True
        return False
