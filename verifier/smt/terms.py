"""Hash-consed terms of the prover: integers as polynomials, booleans, opaque floats.

One :class:`Terms` store belongs to one symbolic execution. Terms are compared by identity. Integer terms are kept in
one normal form, a polynomial over *atoms* (applications, quotients, remainders, conditionals), so that equal index
expressions are the same object however they were written. Every atom has a constant interval that holds always; a
comparison that the intervals decide becomes a constant at once.

``level`` says for whom a term is one value: 0 the grid, 1 the block, 2 the thread. Two-thread queries rename by level.

Invariant: constructors return a term that denotes the same value as the operation for every valuation of the atoms
inside their intervals; ``quot``/``rem`` denote C's truncating operations (for a zero divisor: any value).

Example::

    t = Terms(); x = t.app("x", (), 2, 0, 1023)
    t.le(t.mul(x, t.const(4)), t.const(5000))  # is t.true
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from math import gcd

from verifier.smt import digits
from verifier.smt.radix import Note, Radices, divide_by_product
from verifier.smt.term import (
    MAX_MONOMIALS,
    Const,
    Mono,
    Poly,
    PolyTerm,
    Term,
    TooLarge,
    atoms,
    children,
    divide_mono,
    product_limits,
    show,
    sum_limit,
)

__all__ = [
    "Const",
    "Mono",
    "Poly",
    "PolyTerm",
    "Term",
    "Terms",
    "TooLarge",
    "atoms",
    "children",
    "divide_mono",
    "show",
]


class Terms:
    """The store and the constructors. ``record``: remember what was decided, for evidence. ``order``: see ``radix``."""

    def __init__(self, record: bool = False, order: frozenset[Note] = frozenset()) -> None:
        self._table: dict[object, Term] = {}
        self.decided: dict[tuple[object, ...], None] = {}
        """(kind, terms…) of each simplification that is more than arithmetic; see ``evidence.simplifications``."""
        self.recording = record
        self.radices = Radices(order)
        self.true = self._make("true", "", (), 0, 0)
        self.false = self._make("false", "", (), 0, 0)
        self.zero = self.const(0)
        self.one = self.const(1)
        self._fresh = 0

    def record(self, *what: object) -> None:
        """Remember a simplification, once."""
        if self.recording:
            self.decided[what] = None

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """For searches whose own result is stated as evidence."""
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before

    def _make(
        self,
        op: str,
        name: str,
        args: tuple[Term, ...],
        level: int,
        flevel: int,
        lo: int | None = None,
        hi: int | None = None,
    ) -> Term:
        key = (op, name, args)
        found = self._table.get(key)
        if found is None:
            found = Term(op, name, args, level, flevel, lo, hi, len(self._table))
            self._table[key] = found
        return found

    def const(self, value: int) -> Term:
        key = ("const", value)
        found = self._table.get(key)
        if found is None:
            made = Const("const", "", (), 0, 0, value, value, len(self._table))
            made.value = value
            found = self._table[key] = made
        return found

    def fresh_name(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}@{self._fresh}"

    def app(
        self, name: str, args: tuple[Term, ...], flevel: int, lo: int | None = None, hi: int | None = None
    ) -> Term:
        """An integer unknown (no args) or uninterpreted function value, always within lo..hi (None: unbounded).

        ``flevel`` is the level of the function symbol; the term's level also counts its arguments. A name that is made
        with another interval than before is another function: each holds its own values.
        """
        if lo is not None and lo == hi:
            return self.const(lo)
        made = self._make("app", name, args, max([flevel, *(a.level for a in args)]), flevel, lo, hi)
        same = (made.lo, made.hi, made.flevel) == (lo, hi, flevel)
        return made if same else self.app(f"{name}:{lo}:{hi}:{flevel}", args, flevel, lo, hi)

    def bapp(self, name: str, args: tuple[Term, ...], flevel: int) -> Term:
        """A boolean unknown."""
        return self._make("bapp", name, args, max([flevel, *(a.level for a in args)]), flevel)

    def float(self, name: str, args: tuple[Term, ...], flevel: int) -> Term:
        """An opaque floating-point value: equal structure, equal value; nothing else is known."""
        return self._make("float", name, args, max([flevel, *(a.level for a in args)]), flevel)

    # --- integers --------------------------------------------------------------------------------------------------

    def poly(self, term: Term) -> Poly:
        if isinstance(term, Const):
            return {(): term.value} if term.value else {}
        if isinstance(term, PolyTerm):
            return dict(term.monos)
        return {(term,): 1}

    def from_poly(self, poly: Poly) -> Term:
        items = [(m, c) for m, c in poly.items() if c]
        if not items:
            return self.zero
        if len(items) == 1:
            mono, coef = items[0]
            if not mono:
                return self.const(coef)
            if coef == 1 and len(mono) == 1:
                return mono[0]
        if len(items) > MAX_MONOMIALS:
            raise TooLarge(f"an index expression of more than {MAX_MONOMIALS} terms")
        key = frozenset(items)
        found = self._table.get(key)
        if found is None:
            items.sort(key=lambda mc: (len(mc[0]), tuple(a.id for a in mc[0])))
            lo: int | None = 0
            hi: int | None = 0
            level = 0
            for mono, coef in items:
                bounds: tuple[int | None, int | None] = (1, 1)
                for a in mono:
                    bounds = product_limits(bounds, (a.lo, a.hi))
                    level = max(level, a.level)
                l, h = bounds
                if coef < 0:
                    l, h = (None if h is None else h * coef), (None if l is None else l * coef)
                else:
                    l, h = (None if l is None else l * coef), (None if h is None else h * coef)
                lo, hi = sum_limit(lo, l), sum_limit(hi, h)
            made = PolyTerm("poly", "", (), level, 0, lo, hi, len(self._table))
            made.monos = tuple(items)
            found = self._table[key] = made
        return found

    def add(self, a: Term, b: Term) -> Term:
        if a is self.zero:
            return b
        if b is self.zero:
            return a
        out = self.poly(a)
        for m, c in self.poly(b).items():
            out[m] = out.get(m, 0) + c
        return self.from_poly(out)

    def neg(self, a: Term) -> Term:
        return self.from_poly({m: -c for m, c in self.poly(a).items()})

    def sub(self, a: Term, b: Term) -> Term:
        return self.add(a, self.neg(b))

    def mul(self, a: Term, b: Term) -> Term:
        pa, pb = self.poly(a), self.poly(b)
        if len(pa) * len(pb) > 4 * MAX_MONOMIALS:
            raise TooLarge("a product of two long sums")
        out: Poly = {}
        for ma, ca in pa.items():
            for mb, cb in pb.items():
                m = tuple(sorted(ma + mb, key=lambda t: t.id))
                if len(m) > 12:
                    raise TooLarge("a product of more than 12 factors")
                out[m] = out.get(m, 0) + ca * cb
        return self.from_poly(out)

    def product(self, factors: Iterable[Term]) -> Term:
        return reduce(self.mul, factors, self.one)

    def total(self, parts: Iterable[Term]) -> Term:
        return reduce(self.add, parts, self.zero)

    def ite(self, c: Term, a: Term, b: Term) -> Term:
        """Integer conditional."""
        if c is self.true or a is b:
            return a
        if c is self.false:
            return b
        if c is self.le(a, b) or c is self.lt(a, b):
            return self.minimum(a, b)
        if c is self.le(b, a) or c is self.lt(b, a):
            return self.maximum(a, b)
        lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
        hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
        return self._make("ite", "", (c, a, b), max(c.level, a.level, b.level), 0, lo, hi)

    def minimum(self, a: Term, b: Term) -> Term:
        if self.le(a, b) is self.true:
            return a
        if self.le(b, a) is self.true:
            return b
        lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
        highs = [h for h in (a.hi, b.hi) if h is not None]
        args = (a, b) if a.id <= b.id else (b, a)
        return self._make("min", "", args, max(a.level, b.level), 0, lo, min(highs) if highs else None)

    def maximum(self, a: Term, b: Term) -> Term:
        if self.le(a, b) is self.true:
            return b
        if self.le(b, a) is self.true:
            return a
        hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
        lows = [x for x in (a.lo, b.lo) if x is not None]
        args = (a, b) if a.id <= b.id else (b, a)
        return self._make("max", "", args, max(a.level, b.level), 0, max(lows) if lows else None, hi)

    def wrap(self, a: Term, bits: int, signed: bool) -> Term:
        """``a`` reduced modulo 2**bits into the type's range."""
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if a.lo is not None and a.hi is not None and low <= a.lo and a.hi <= high:
            self.record("within", a, low, high)
            return a
        if isinstance(a, Const):
            value = a.value & ((1 << bits) - 1)
            return self.const(value - (1 << bits) if signed and value >> (bits - 1) else value)
        reduced = self._modulo(a, bits)
        if reduced is not a:
            return self.wrap(reduced, bits, signed)
        return self._make("wrap", f"{'i' if signed else 'u'}{bits}", (a,), a.level, 0, low, high)

    def _modulo(self, a: Term, bits: int) -> Term:
        """A term that is equal modulo 2**bits: inner reductions by multiples of it left out, coefficients small."""
        half, whole = 1 << (bits - 1), 1 << bits
        out = self.zero
        for mono, coef in self.poly(a).items():
            inner = [x for x in mono if x.op == "wrap" and int(x.name[1:]) >= bits]
            rest = self.from_poly({tuple(x for x in mono if x not in inner): (coef + half) % whole - half})
            try:
                out = self.add(out, self.product([rest, *(x.args[0] for x in mono if x in inner)]))
            except TooLarge:
                return a
        return out

    def bv(self, op: str, bits: int, a: Term, b: Term, lo: int | None, hi: int | None) -> Term:
        """A bit operation (and or xor) on ``bits`` bits, two's complement; the interval follows from them."""
        return self._make("bv", f"{op}{bits}", (a, b), max(a.level, b.level), 0, lo, hi)

    def quot(self, a: Term, b: Term) -> Term:
        """C's truncating quotient."""
        self.radices.note(self, a, b)
        return self.divide(a, b)[0]

    def rem(self, a: Term, b: Term) -> Term:
        """C's remainder, with the dividend's sign."""
        self.radices.note(self, a, b)
        return self.divide(a, b)[1]

    def divide(self, a: Term, b: Term) -> tuple[Term, Term]:
        """Both."""
        if isinstance(b, Const) and b.value == 1:
            return a, self.zero
        if isinstance(a, Const) and isinstance(b, Const) and b.value != 0:
            q = abs(a.value) // abs(b.value)
            q = q if (a.value >= 0) == (b.value > 0) else -q
            return self.const(q), self.const(a.value - q * b.value)
        made = self._divided(a, b)
        self.record("divided", a, b, *made)
        return made

    def _divided(self, a: Term, b: Term) -> tuple[Term, Term]:
        a = self.rejoined(a)
        if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo > 0:
            if self.lt(a, b) is self.true:
                return self.zero, a
            parts = digits.split(self, a, b)
            if parts is not None:
                return parts
            pb = self.poly(b)
            if len(pb) == 1:
                ((mb, cb),) = pb.items()
                if len(mb) + (cb > 1) > 1 and all(f.lo is not None and f.lo > 0 for f in mb):
                    return divide_by_product(self, a, mb, cb)
        return self._atom_divide(a, b)

    def rejoined(self, a: Term) -> Term:
        """A sum with c*(y*(x/y) + x%y) in it, y >= 1, has c*x instead."""
        poly = self.poly(a)
        for mono, coef in poly.items():
            for digit in mono:
                if digit.op != "rem" or digit.args[1].lo is None or digit.args[1].lo < 1:
                    continue
                x, y = digit.args
                weight = self.from_poly({divide_mono(mono, (digit,)) or (): coef})
                whole = self.mul(weight, self.mul(y, self._atom_divide(x, y)[0]))
                if all(poly.get(m) == c for m, c in self.poly(whole).items()):
                    rest = self.sub(self.sub(a, whole), self.mul(weight, digit))
                    return self.rejoined(self.add(rest, self.mul(weight, x)))
        return a

    def has_quotient(self, a: Term, b: Term) -> bool:
        """Whether a was divided by b before."""
        return ("quot", "", (a, b)) in self._table

    def _atom_divide(self, a: Term, b: Term) -> tuple[Term, Term]:
        level = max(a.level, b.level)
        qlo = qhi = rlo = rhi = None
        if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo > 0:
            qlo, rlo = (0 if b.hi is None else a.lo // b.hi), 0
            qhi = None if a.hi is None else a.hi // b.lo
            rhi = None if b.hi is None else b.hi - 1
            if a.hi is not None:
                rhi = a.hi if rhi is None else min(rhi, a.hi)
            if a.op == "rem" and b is a.args[1]:
                return self.zero, a
        elif b.lo is not None and b.lo > 0:
            if a.lo is not None and a.hi is not None:
                qlo, qhi = -(max(-a.lo, 0) // b.lo), max(a.hi, 0) // b.lo
            if b.hi is not None:
                rlo, rhi = -(b.hi - 1), b.hi - 1
        q = self._make("quot", "", (a, b), level, 0, qlo, qhi)
        r = self._make("rem", "", (a, b), level, 0, rlo, rhi)
        self.record("within", q, qlo, qhi)
        self.record("within", r, rlo, rhi)
        return q, r

    # --- booleans --------------------------------------------------------------------------------------------------

    def le0(self, p: Term) -> Term:
        """p <= 0."""
        if p.hi is not None and p.hi <= 0:
            self.record("within", p, None, 0)
            return self.true
        if p.lo is not None and p.lo > 0:
            self.record("within", p, 1, None)
            return self.false
        poly = self.poly(p)
        g = 0
        for m, c in poly.items():
            if m:
                g = gcd(g, c)
        if g > 1:
            constant = poly.get((), 0)
            poly = {m: c // g for m, c in poly.items() if m}
            poly[()] = -((-constant) // g)
            whole, p = p, self.from_poly(poly)
            self.record("same sign", whole, p)
        return self._make("le0", "", (p,), p.level, 0)

    def le(self, a: Term, b: Term) -> Term:
        return self.le0(self.sub(a, b))

    def lt(self, a: Term, b: Term) -> Term:
        return self.le0(self.add(self.sub(a, b), self.one))

    def eq(self, a: Term, b: Term) -> Term:
        d = self.sub(a, b)
        if isinstance(d, Const):
            return self.true if d.value == 0 else self.false
        if (d.lo is not None and d.lo > 0) or (d.hi is not None and d.hi < 0):
            self.record("not zero", d)
            return self.false
        poly = self.poly(d)
        g = 0
        for m, c in poly.items():
            if m:
                g = gcd(g, c)
        if g and poly.get((), 0) % g:
            self.record("not zero", d)
            return self.false
        first = next(iter(sorted((m for m in poly if m), key=lambda m: tuple(a.id for a in m))))
        sign = 1 if poly[first] > 0 else -1
        d = self.from_poly({m: c * sign // g for m, c in poly.items()})
        return self._make("eq0", "", (d,), d.level, 0)

    def ne(self, a: Term, b: Term) -> Term:
        return self.not_(self.eq(a, b))

    def not_(self, a: Term) -> Term:
        if a is self.true:
            return self.false
        if a is self.false:
            return self.true
        match a.op:
            case "not":
                return a.args[0]
            case "le0":
                return self.le0(self.sub(self.one, a.args[0]))
            case "and":
                return self.or_(*(self.not_(x) for x in a.args))
            case "or":
                return self.and_(*(self.not_(x) for x in a.args))
            case _:
                return self._make("not", "", (a,), a.level, 0)

    def and_(self, *parts: Term) -> Term:
        return self._junction("and", parts, self.true, self.false)

    def or_(self, *parts: Term) -> Term:
        return self._junction("or", parts, self.false, self.true)

    def _junction(self, op: str, parts: Iterable[Term], unit: Term, zero: Term) -> Term:
        if not self.recording:
            return self._joined(op, parts, unit, zero)
        parts = tuple(parts)
        made = self._joined(op, parts, unit, zero)
        if len(parts) > 1 and any(p.op in ("and", "or") for p in parts):
            self.record(op, made, *parts)
        return made

    def _joined(self, op: str, parts: Iterable[Term], unit: Term, zero: Term) -> Term:
        flat: dict[Term, None] = {}
        for p in parts:
            if p is zero:
                return zero
            if p is unit:
                continue
            for q in p.args if p.op == op else (p,):
                flat[q] = None
        for q in flat:
            if self.not_(q) in flat if q.op not in ("and", "or") else False:
                return zero
        if len(flat) > 1:
            flat = self._resolve(op, flat)
            if zero in flat:
                return zero
        if op == "or" and len(flat) > 1:
            flat = self._factor(list(flat))
            if self.true in flat:
                return self.true
        if not flat:
            return unit
        if len(flat) == 1:
            return next(iter(flat))
        args = tuple(flat) if op == "and" else tuple(sorted(flat, key=lambda t: t.id))
        return self._make(op, "", args, max(a.level for a in args), 0)

    def _resolve(self, op: str, flat: dict[Term, None]) -> dict[Term, None]:
        """``not a or (a and b)`` is ``not a or b``, and the dual: parts whose complement stands beside are dropped."""
        dual = "and" if op == "or" else "or"
        if not any(q.op == dual for q in flat):
            return flat
        out: dict[Term, None] = {}
        for q in flat:
            if q.op == dual:
                kept = tuple(x for x in q.args if x.op in ("and", "or") or self.not_(x) not in flat)
                if len(kept) != len(q.args):
                    q = self.and_(*kept) if dual == "and" else self.or_(*kept)
            for part in q.args if q.op == op else (q,):
                out[part] = None
        return out

    def _factor(self, parts: list[Term]) -> dict[Term, None]:
        """(A and c) or (A and not c) = A, and absorption; keeps path conditions small after a merge."""
        conj = [frozenset(p.args) if p.op == "and" else frozenset((p,)) for p in parts]
        common = frozenset.intersection(*conj)
        if common:
            rests = [c - common for c in conj]
            if any(not r for r in rests):
                return {self.and_(*sorted(common, key=lambda t: t.id)): None}
            inner = self.or_(*(self.and_(*sorted(r, key=lambda t: t.id)) for r in rests))
            if inner is self.true:
                return {self.and_(*sorted(common, key=lambda t: t.id)): None}
            if inner.op != "or":
                return {self.and_(*sorted(common, key=lambda t: t.id), inner): None}
        keep = [p for p, c in zip(parts, conj, strict=True) if not any(o < c for o in conj)]
        return dict.fromkeys(keep)

    def implies(self, a: Term, b: Term) -> Term:
        return self.or_(self.not_(a), b)

    def iff(self, a: Term, b: Term) -> Term:
        return self.and_(self.implies(a, b), self.implies(b, a))

    def bite(self, c: Term, a: Term, b: Term) -> Term:
        """Boolean conditional."""
        if c is self.true or a is b:
            return a
        if c is self.false:
            return b
        return self.or_(self.and_(c, a), self.and_(self.not_(c), b))

    def int_of(self, b: Term) -> Term:
        return self.ite(b, self.one, self.zero)

    # --- rewriting -------------------------------------------------------------------------------------------------

    def rebuild(self, term: Term, leaf: Callable[[Term], Term | None], memo: dict[Term, Term]) -> Term:
        """Replace terms bottom-up; ``leaf`` returns the replacement of a node or None to descend."""
        done = memo.get(term)
        if done is not None:
            return done
        new = leaf(term)
        if new is None:
            new = self._rebuild(term, leaf, memo)
        memo[term] = new
        return new

    def _rebuild(self, t: Term, leaf: Callable[[Term], Term | None], memo: dict[Term, Term]) -> Term:
        if isinstance(t, Const) or t.op in ("true", "false"):
            return t
        if isinstance(t, PolyTerm):
            out: Poly = {}
            for mono, coef in t.monos:
                part = self.const(coef)
                for a in mono:
                    part = self.mul(part, self.rebuild(a, leaf, memo))
                for m, c in self.poly(part).items():
                    out[m] = out.get(m, 0) + c
            return self.from_poly(out)
        args = tuple(self.rebuild(a, leaf, memo) for a in t.args)
        if args == t.args:
            return t
        match t.op:
            case "app":
                return self.app(t.name, args, t.flevel, t.lo, t.hi)
            case "bapp":
                return self.bapp(t.name, args, t.flevel)
            case "float":
                return self.float(t.name, args, t.flevel)
            case "quot":
                return self.quot(*args)
            case "rem":
                return self.rem(*args)
            case "ite":
                return self.ite(*args)
            case "min":
                return self.minimum(*args)
            case "max":
                return self.maximum(*args)
            case "wrap":
                return self.wrap(args[0], int(t.name[1:]), t.name[0] == "i")
            case "bv":
                return self._make("bv", t.name, args, max(a.level for a in args), 0, t.lo, t.hi)
            case "le0":
                return self.le0(args[0])
            case "eq0":
                return self.eq(args[0], self.zero)
            case "not":
                return self.not_(args[0])
            case "and":
                return self.and_(*args)
            case "or":
                return self.or_(*args)
        raise AssertionError(t.op)

    def substitute(self, term: Term, mapping: dict[Term, Term]) -> Term:
        return self.rebuild(term, mapping.get, {})

    def rename(self, term: Term, suffix: str, min_level: int, memo: dict[Term, Term]) -> Term:
        """The term of a second thread: symbols of level >= min_level get the suffix. One memo a (suffix, level)."""

        def leaf(t: Term) -> Term | None:
            if t.level < min_level:
                return t
            if t.op in ("app", "bapp", "float") and t.flevel >= min_level:
                args = tuple(self.rename(a, suffix, min_level, memo) for a in t.args)
                name = f"{t.name}!{suffix}"
                if t.op == "app":
                    return self.app(name, args, t.flevel, t.lo, t.hi)
                return self.bapp(name, args, t.flevel) if t.op == "bapp" else self.float(name, args, t.flevel)
            return None

        return self.rebuild(term, leaf, memo)
