"""Upper bounds of a polynomial in sizes alone: the search of ``bounds``, ended where nothing of a thread is left.

Known inequalities x term -> level-0 terms E with ``term <= E``. Each step adds a multiple of a known ``h <= 0`` (see
``bounds``), so every E that is given is a bound wherever the inequalities hold.

Example: from ``i <= n - 1`` the bound of ``4*i + 4`` is ``4*n``; from ``row <= M - 1, k <= K - 1`` that of
``row*K + k`` is ``M*K - 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from verifier.smt.bounds import Bounds
from verifier.smt.terms import Mono, Poly, PolyTerm, Term, Terms, atoms

NODES = 400
DEPTH = 12
ENOUGH = 24
BIG = 1 << 17
MAX_QUOTIENTS = 16


class Uppers(Bounds):
    """``launch``: atoms of grid and block, which a bound had better not mention."""

    def __init__(self, t: Terms, facts: Iterable[Term], launch: Iterable[Term] = ()) -> None:
        facts = list(facts)
        super().__init__(t, facts)
        self.launch = frozenset(launch)
        quotients = [a for a in atoms(facts) if a.op == "quot" and a.level and a.args[1].level == 0]
        for q in sorted(quotients, key=lambda a: a.id)[:MAX_QUOTIENTS]:
            if more := list(self._limits(q)):
                loose = t.le(q, q.args[0])
                facts = [*more, *(f for f in facts if f is not loose)]
                super().__init__(t, facts)

    def above(self, term: Term, most: int = 4) -> list[Term]:
        """Up to ``most`` bounds, plain ones in few sizes first."""
        self._asked = {a for m in self.t.poly(term) for a in m}
        start = self.t.poly(term)
        heap: list[tuple[int, int, int, int, Poly]] = [(0, 0, 0, 0, start)]
        seen = {frozenset(start.items())}
        found: dict[Term, None] = {}
        count = 0
        for _ in range(NODES):
            if not heap or len(found) >= ENOUGH:
                break
            _, _, depth, _, p = heappop(heap)
            rest = self._without_negative(p)
            if all(a.level == 0 for m in rest for a in m):
                found[self.t.from_poly(rest)] = None
                continue
            if depth >= DEPTH:
                continue
            for q in self._varying_steps(p):
                key = frozenset(q.items())
                if key not in seen:
                    seen.add(key)
                    count += 1
                    heappush(heap, (self._varying(q), self._cost(q)[0], depth + 1, count, q))
        return sorted(found, key=lambda e: self._cost(self.t.poly(e)))[:most]

    def _varying_steps(self, p: Poly) -> Iterator[Poly]:
        varying = [(m, c) for m, c in p.items() if any(a.level for a in m)]
        up = [(m, c) for m, c in varying if c > 0]
        up.sort(key=lambda mc: (len(mc[0]), tuple(-a.level for a in mc[0])))
        down = [(m, c) for m, c in varying if c < 0 and not all(self.nonneg(a) for a in m)]
        for mono, coef in (*up[:6], *down[:3]):
            for h, factor, own in self._candidates(mono, coef):
                step = self._step(p, h, mono, coef, factor, own)
                if step is not None:
                    yield step

    def _candidates(self, mono: Mono, coef: int) -> list[tuple[Poly, Mono, int]]:
        """Without the plain intervals of unknowns of which more is known: these say nothing of sizes."""
        found = super()._candidates(mono, coef)
        plain = [
            {(a,): 1, (): -a.hi} if a.hi else {(a,): 1}
            for a in mono
            if a.hi is not None and self.by_mono.get((a,))
        ]
        return [x for x in found if x[0] not in plain]

    def _without_negative(self, p: Poly) -> Poly:
        """Without what a thread only subtracts."""
        return {
            m: c
            for m, c in p.items()
            if c > 0 or all(a.level == 0 for a in m) or not all(self.nonneg(a) for a in m)
        }

    def _varying(self, p: Poly) -> int:
        rest = self._without_negative(p)
        return sum(len([a for a in m if a.level]) for m in rest)

    def _cost(self, p: Poly) -> tuple[int, int, int]:
        used = atoms([self.t.from_poly(p)])
        launch = sum(a in self.launch for a in used)
        launch += 8 * sum(
            sum(a in self.launch for a in m) > 1 for m in p
        )  # threads of a launch: rounded up mostly
        inner = (c for a in used if isinstance(a, PolyTerm) for _, c in a.monos)
        launch += 5 * sum(
            abs(c) > BIG for c in (*p.values(), *inner)
        )  # the interval of an unknown, not a size
        return launch + 2 * sum(a.op in ("quot", "rem") for a in used), len(p), sum(len(m) for m in p)

    def _limits(self, q: Term) -> Iterator[Term]:
        """``a <= A`` and ``b > 0`` give ``a/b <= ceil(A+1 over b) - 1`` where a thread's a is divided by a size b."""
        t, (a, b) = self.t, q.args
        if a.lo is None or a.lo < 0 or b.lo is None or b.lo < 1:
            return
        for top in self.above(a, 2):
            fact = t.le(q, t.sub(t.quot(t.add(top, b), b), t.one))
            if fact is not t.true:
                yield fact
