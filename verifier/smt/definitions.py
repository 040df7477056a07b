"""What is known of an atom by its own definition: intervals, Euclid's identity of quotient and remainder, min and max.

Term -> facts. Invariant: each fact holds for every valuation that interprets the atom as documented in ``terms``; facts
about a quotient are conditional on the divisor's sign unless the interval settles it, so adding them never makes a
satisfiable set unsatisfiable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from verifier.smt.terms import Const, Term, Terms, atoms, divide_mono


def definition(t: Terms, atom: Term) -> tuple[Term, ...]:
    """Facts about one atom (interval facts excluded; :func:`interval` gives those)."""
    match atom.op:
        case "quot" | "rem":
            return _division(t, *atom.args)
        case "min":
            a, b = atom.args
            return (t.le0(t.sub(atom, a)), t.le0(t.sub(atom, b)))
        case "max":
            a, b = atom.args
            return (t.le0(t.sub(a, atom)), t.le0(t.sub(b, atom)))
        case _:
            return ()


def raw_le0(t: Terms, p: Term) -> Term:
    """``p <= 0`` without the interval simplification (which would turn an interval fact into ``true``)."""
    return t._make("le0", "", (p,), p.level, 0)


def interval(t: Terms, atom: Term) -> tuple[Term, ...]:
    """The atom's constant interval as facts."""
    out = []
    if atom.lo is not None:
        out.append(raw_le0(t, t.sub(t.const(atom.lo), atom)))
    if atom.hi is not None:
        out.append(raw_le0(t, t.sub(atom, t.const(atom.hi))))
    return tuple(out)


def _division(t: Terms, a: Term, b: Term) -> tuple[Term, ...]:
    q = t._make("quot", "", (a, b), max(a.level, b.level), 0)
    r = t._make("rem", "", (a, b), max(a.level, b.level), 0)
    euclid = t.eq(a, t.add(t.mul(q, b), r))
    zero = t.zero
    if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo > 0:
        return (
            euclid,
            raw_le0(t, t.neg(r)),
            raw_le0(t, t.add(t.sub(r, b), t.one)),
            raw_le0(t, t.neg(q)),
            t.le(q, a),
        )
    positive = t.and_(
        euclid,
        t.lt(r, b),
        t.lt(t.neg(b), r),
        t.implies(t.le(zero, a), t.and_(t.le(zero, r), t.le(zero, q))),
        t.implies(t.le(a, zero), t.and_(t.le(r, zero), t.le(q, zero))),
    )
    negative = t.and_(
        euclid,
        t.lt(r, t.neg(b)),
        t.lt(b, r),
        t.implies(t.le(zero, a), t.and_(t.le(zero, r), t.le(q, zero))),
        t.implies(t.le(a, zero), t.and_(t.le(r, zero), t.le(zero, q))),
    )
    return (t.implies(t.lt(zero, b), positive), t.implies(t.lt(b, zero), negative))


def closure(t: Terms, roots: Iterable[Term], registered: Mapping[Term, Iterable[Term]]) -> list[Term]:
    """All facts about the atoms of the roots and, transitively, about the atoms of those facts."""
    facts: dict[Term, None] = {}
    seen: set[Term] = set()
    todo = list(roots)
    while todo:
        batch, todo = todo, []
        for atom in atoms(batch):
            if atom in seen:
                continue
            seen.add(atom)
            for fact in (*definition(t, atom), *registered.get(atom, ())):
                if fact is not t.true and fact not in facts:
                    facts[fact] = None
                    todo.append(fact)
    return list(facts)


def quotient_bounds(t: Terms, facts: Iterable[Term]) -> list[Term]:
    """Lemmas ``a <= X*b - 1  =>  a/b <= X - 1`` for the quotients (of non-negative by positive) among the facts.

    Sound: q*b <= a < X*b with b > 0 gives q < X. These are consequences; they only spare the solver nonlinear search.
    """
    return list(dict.fromkeys(lemma for lemma, _, _ in quotient_lemmas(t, facts)))


def quotient_lemmas(t: Terms, facts: Iterable[Term]) -> list[tuple[Term, Term, Term]]:
    """Each such lemma with the inequality and the quotient that it is about."""
    facts = list(facts)
    quotients = [x for x in atoms(facts) if x.op == "quot" and _plain(x)]
    quotients.sort(key=lambda x: x.id)
    sizes = [x for x in atoms(facts) if x.op == "quot" and not x.level and (x.args[1].lo or 0) >= 1]
    known = [f for f in _conjuncts(facts) if f.op == "le0"]
    if quotients:
        known += _without_names(t, facts, known)
    inequalities = [(f, f.args[0], t.poly(f.args[0])) for f in known]
    out: dict[Term, tuple[Term, Term]] = {}
    for q in quotients:
        a, b = q.args
        for lemma, f in _by_larger(t, q, sizes, [f for f, _, _ in inequalities]):
            if lemma is not t.true and lemma not in out:
                out[lemma] = (f, q)
                if lemma.op == "le0":
                    inequalities.append((lemma, lemma.args[0], t.poly(lemma.args[0])))
        pb = t.poly(b)
        if len(pb) != 1:
            continue
        ((mb, cb),) = pb.items()
        after = t.poly(t.add(a, t.one))
        own = {m: c for m, c in after.items() if divide_mono(m, mb) is None or c % cb}
        for f, p, poly in inequalities:  # grows
            # p <= 0 says a <= a - p, which is X*b - 1 if b divides a + 1 - p
            if p is a or any(
                (poly.get(m, 0) - c) % cb if divide_mono(m, mb) is not None else poly.get(m) != c
                for m, c in own.items()
            ):
                continue
            top = dict(after)
            for m, c in poly.items():
                top[m] = top.get(m, 0) - c
            divided = {divide_mono(m, mb): c // cb for m, c in top.items() if c}
            if not divided or None in divided or any(c % cb for c in top.values()):
                continue
            quotient = t.from_poly({m: c for m, c in divided.items() if m is not None})
            lemma = t.le(q, t.sub(quotient, t.one))
            if lemma is not t.true and lemma not in out:
                out[lemma] = (f, q)
                if lemma.op == "le0":
                    inequalities.append((lemma, lemma.args[0], t.poly(lemma.args[0])))
    return [(lemma, f, q) for lemma, (f, q) in out.items()]


def _by_larger(
    t: Terms, q: Term, sizes: Iterable[Term], known: Iterable[Term]
) -> Iterable[tuple[Term, Term]]:
    """``a + b <= c`` gives ``a/b + 1 <= c/b``, where c/b is a size that occurs as well; with the inequality."""
    a, b = q.args
    for larger in sizes if q.level else ():
        c, same = larger.args
        if same is b:
            wanted = t.sub(t.add(a, b), c)
            for f in known:
                gap = t.sub(f.args[0], wanted)
                if isinstance(gap, Const) and gap.value >= 0:
                    yield t.le(t.add(q, t.one), larger), f


def _without_names(t: Terms, facts: Iterable[Term], known: Iterable[Term]) -> list[Term]:
    """``index < total`` with what ``total`` is equal to in its place."""
    names: dict[Term, Term] = {}
    for f in _conjuncts(facts):
        if f.op != "eq0":
            continue
        poly = t.poly(f.args[0])
        for mono, coef in poly.items():
            if len(mono) == 1 and mono[0].op == "app" and mono[0].level == 0 and abs(coef) == 1:
                rest = t.from_poly({m: -c * coef for m, c in poly.items() if m != mono})
                if any(len(m) > 1 for m in t.poly(rest)) and mono[0] not in atoms([rest]):
                    names.setdefault(mono[0], rest)
    if not names:
        return []
    renamed = [f for f in known if any(a in names for a in atoms([f]))]
    out = [t.le0(_shallow(t, f.args[0], names)) for f in renamed]
    out += [t.rebuild(f, names.get, {}) for f in renamed]
    return [f for f in dict.fromkeys(out) if f.op == "le0"]


def _shallow(t: Terms, p: Term, names: Mapping[Term, Term]) -> Term:
    """A sum with what names stand for in the names' place, but not inside quotients and remainders."""
    parts = (t.mul(t.const(c), t.product(names.get(a, a) for a in m)) for m, c in t.poly(p).items())
    return t.total(parts)


def _plain(q: Term) -> bool:
    a, b = q.args
    return a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo > 0


def _conjuncts(facts: Iterable[Term]) -> Iterable[Term]:
    for f in facts:
        if f.op == "and":
            yield from _conjuncts(f.args)
        else:
            yield f


conjuncts = _conjuncts
