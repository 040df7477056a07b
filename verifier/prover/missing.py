"""The clause without which a proof fails: abduced, said, and only with the problem's sizes on its side used.

Obligation -> a :class:`Missing` clause, or None. Templates: two buffers do not overlap; integer contents are valid
indices; a divisor is positive; two sizes are equal (``b.size(0) == a.size(1)``) or a size is one of the constants of the
contract's shapes; a buffer is at least as long as what the path allows; one size divides another. A clause that the
problem file's own sizes contradict is never proposed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from specs.clauses import ClauseError, ClauseUndefined, evaluate, names
from specs.contract import Contract
from verifier.prover.discharge import Discharger
from verifier.smt.smtlib import gather, script
from verifier.smt.terms import Const, PolyTerm, Term, atoms
from verifier.symex.claims import Claims, Obligation
from verifier.symex.memory_claims import alignment_of, bounds_of
from verifier.symex.pointers import address_of
from verifier.symex.summary import MemoryObject
from verifier.symex.symbols import texts

MAX_PROPOSALS = 24


@dataclass(frozen=True, slots=True)
class Missing:
    """``clause``: its text (``given`` puts it in its place), or empty. ``derived``: the problem's sizes satisfy it."""

    clause: str
    sentence: str
    derived: bool = False


def missing_clause(c: Claims, d: Discharger, o: Obligation) -> Missing | None:
    """What the host code would have to promise for the obligation to hold; None if no template does."""
    with c.s.t.unrecorded():
        return _missing(c, d, o)


def _missing(c: Claims, d: Discharger, o: Obligation) -> Missing | None:
    if o.note.startswith("disjoint("):
        a, b = o.note.removeprefix("disjoint(").removesuffix(")").split(", ")
        return Missing(o.note, f"nothing says that {a} and {b} are different memory; add the clause {o.note}")
    used = sorted(_open_contents(c, o))
    if used and _by_contents(c, d, o):
        text = _range(c, d, o, used[0]) if len(used) == 1 else ""
        said = f"the indices read from {', '.join(used)} are not known to be in range"
        return Missing(text, f"{said}; add {f'the clause {text}' if text else 'a content clause for it'}")
    if o.property == "alignment" and (start := _base_alignment(c, d, o)):
        return start
    sized = o.property in ("bounds-global", "overflow", "alignment", "arithmetic") or o.property.startswith(
        "race"
    )
    if o.note or not sized or any(a.obj.buffer is None for a in o.accesses):
        return None
    values = {s.name: s.value for s in c.s.contract.symbols if s.value is not None}
    tried = 0
    for text, mapping, fact in _proposals(c, o):
        told = _truth(text, values)
        if told is False:
            continue
        tried += 1
        if tried > MAX_PROPOSALS or time.monotonic() > d.pool.deadline:
            return None
        effort = 0.2 if o.property == "arithmetic" or o.property.startswith("race") else 0
        under = _under(c, o, mapping, fact)
        if d.decide(under, effort, quick=not effort).status == "proved" and _possible(c, d, under, mapping):
            if told is None and _arbitrary(c, d, o, mapping, effort):
                continue
            return Missing(
                text, f"needs {text}, which nothing checks; add the clause or a host check", told is True
            )
    return None


def _open_contents(c: Claims, o: Obligation) -> set[str]:
    """Buffers whose integer contents the place of the access is computed from; bytes can hold anything anyway."""
    buffers = {c.s.reads[x][0] for x in c.data((o.goal,))}
    return {
        b
        for b in buffers
        if (found := c.s.contract.buffer(b)) is None or found.dtype not in ("u8", "i8", "bool")
    }


def _by_contents(c: Claims, d: Discharger, o: Obligation) -> bool:
    """Whether the obligation is one on indices that a buffer holds and that the kernel takes as they are.

    An operation on them (``(size_t)p * width``) fails for want of the same clause as the access that it is for.
    """
    if o.property.startswith("bounds"):
        return not _judged(c, d, o)
    data = set(c.data((o.goal,)))
    if o.property != "overflow":
        return False
    places = [a for a in c.s.accesses if a.obj.buffer is not None and data & set(c.data((a.offset,)))]
    return any(not _judged(c, d, item) for a in places[:4] for item in bounds_of(c, "bounds-global", a))


def _range(c: Claims, d: Discharger, o: Obligation, buffer: str) -> str:
    """A clause ``content(buffer, 0, n - 1)`` under which the obligation holds, n a size of what is accessed; or empty."""
    t, symbol_of = c.s.t, texts(c.s.symbols)
    objects = [a.obj for a in o.accesses] or _indexed_by(c, o)
    sizes = atoms([x.extent for x in objects if x.extent is not None])
    read = [x for x in c.data((*o.hyps, o.goal)) if c.s.reads[x][0] == buffer]
    for size in [x for x in sizes if x in symbol_of and "//" not in symbol_of[x]][:6]:
        told = [f for x in read for f in (t.le(t.zero, x), t.lt(x, size))]
        if d.decide(replace(o, facts=(*told, *o.facts)), 0, quick=True).status == "proved":
            return f"content({buffer}, 0, {symbol_of[size]} - 1)"
    return ""


def _judged(c: Claims, d: Discharger, o: Obligation) -> bool:
    """Whether the kernel itself bounds the contents, on the path and on each side that fails, by what is no content.

    Such a kernel takes contents as they come (``if (p < 0 || p > n) return;``): a bound that is wrong is its own fault.
    """
    t = c.s.t
    bounded: set[tuple[Term, bool]] = set()
    for h in _parts(o.hyps):
        if h.op == "le0" and len(read := c.data((h,))) == 1:
            bounded |= {(read[0], k > 0) for m, k in t.poly(h.args[0]).items() if read[0] in m}
    for side in _parts((o.goal,)):
        data = c.data((side,))
        if not data or d.decide(replace(o, goal=side), 0.2).status == "proved":
            continue
        if side.op != "le0":
            return False
        for m, k in t.poly(side.args[0]).items():
            if any(c.data((a,)) and (a not in data or (a, k > 0) not in bounded) for a in m):
                return False
    return True


def _parts(terms: Iterable[Term]) -> Iterator[Term]:
    for x in terms:
        if x.op == "and":
            yield from _parts(x.args)
        else:
            yield x


def _base_alignment(c: Claims, d: Discharger, o: Obligation) -> Missing | None:
    """The start of a buffer as the caller passes it: ``x[1:]`` is contiguous and aligned to one element."""
    t = c.s.t
    access = o.accesses[0]
    need = alignment_of(access)
    if access.obj.buffer is None or access.obj.align % need == 0:
        return None
    start = t.mul(t.const(need), t.app(f"{access.obj.name}.start", (), 0, 0, 1 << 58))
    if d.decide(_under(c, o, {address_of(t, access.obj): start}, None), 0.2).status != "proved":
        return None
    name = access.obj.name
    check = f"TORCH_CHECK(reinterpret_cast<uintptr_t>({name}.data_ptr()) % {need} == 0)"
    return Missing(
        f"aligned({name}, {need})",
        f"nothing says that {name} starts at a multiple of {need} bytes; add {check}",
    )


def _under(c: Claims, o: Obligation, mapping: Mapping[Term, Term], fact: Term | None) -> Obligation:
    """The obligation with a proposed clause."""
    t = c.s.t
    extra = () if fact is None else (fact,)
    if not mapping:
        return replace(o, facts=(*extra, *o.facts))
    memo: dict[Term, Term] = {}

    def at(x: Term) -> Term:
        return t.rebuild(x, mapping.get, memo)

    return replace(o, hyps=tuple(map(at, o.hyps)), goal=at(o.goal), facts=(*extra, *map(at, o.facts)))


def _possible(c: Claims, d: Discharger, under: Obligation, mapping: Mapping[Term, Term]) -> bool:
    """Whether a launch under the clause gets there at all: a clause that no launch meets explains nothing."""
    t = c.s.t
    assertions = [*under.facts, *under.hyps, *(t.eq(a, b) for a, b in mapping.items())]
    facts = gather(t, assertions, c.s.facts)
    return d.pool.check(script(t, [*facts, *assertions]), scale=0.2).status != "unsat"


def _arbitrary(c: Claims, d: Discharger, o: Obligation, mapping: Mapping[Term, Term], effort: float) -> bool:
    """Whether a size would do as well with the constant's neighbours: then it is not that constant which is missing."""
    for size, value in mapping.items():
        if isinstance(value, Const):
            near = ({size: c.s.t.const(value.value + step)} for step in (-1, 1))
            return all(
                d.decide(_under(c, o, m, None), effort, quick=not effort).status == "proved" for m in near
            )
    return False


def _truth(text: str, values: Mapping[str, int]) -> bool | None:
    """Whether the problem's sizes satisfy the clause; None if they do not say."""
    try:
        return bool(evaluate(text, values)) if names(text) <= set(values) else None
    except (ClauseError, ClauseUndefined):
        return None


Proposal = tuple[str, Mapping[Term, Term], Term | None]


def _proposals(c: Claims, o: Obligation) -> Iterator[Proposal]:
    t = c.s.t
    dims = {s.name for s in c.s.contract.symbols if s.kind == "dim"}
    symbol_of = texts(c.s.symbols)
    dims |= {text for text in symbol_of.values() if "//" in text}
    for scalar in c.s.contract.scalars:
        named = c.s.scalars.get(scalar.param)
        if named is not None and named.op == "app" and named not in symbol_of and scalar.value is not None:
            symbol_of[named] = f"({scalar.value})"
            dims.add(symbol_of[named])
    seen = atoms([*o.hyps, o.goal])
    used = [x for x in seen if symbol_of.get(x) in dims]
    objects = [a.obj for a in o.accesses] or _indexed_by(c, o)
    extents = [x.extent for x in objects if x.extent is not None]
    extent = [x for x in atoms(extents) if symbol_of.get(x) in dims]
    if o.property == "arithmetic":
        for a in used:
            if "//" not in symbol_of[a]:
                yield f"{symbol_of[a]} >= 1", {}, t.le(t.one, a)
    pairs: dict[tuple[Term, Term], None] = {}
    for one in extents:
        sizes = [x for x in atoms([one]) if symbol_of.get(x) in dims]
        others = [b for b in used if "//" not in symbol_of[b] and b not in sizes]
        pairs |= dict.fromkeys((a, b) for a in sizes if "//" not in symbol_of[a] for b in others)
    for a, b in pairs:
        yield f"{symbol_of[a]} == {symbol_of[b]}", {a: b}, None
    for constant in _shape_constants(c.s.contract):
        for a in dict.fromkeys([*used, *extent]):
            yield f"{symbol_of[a]} == {constant}", {a: t.const(constant)}, None
    lengths = _lengths(c, objects)
    there = set() if o.accesses else set(_lengths(c, objects))
    for h in o.hyps:
        for part in h.args if h.op == "and" else (h,):
            yield from _at_least(c, part, lengths, there, symbol_of)
    for x in seen:
        if x.op in ("quot", "rem") and x.level == 0:
            top, bottom = (_text(y, symbol_of) for y in x.args)
            if top is not None and bottom is not None:
                yield f"{top} % {bottom} == 0", {}, t.eq(t.rem(*x.args), t.zero)


def _indexed_by(c: Claims, o: Obligation) -> list[MemoryObject]:
    """The buffers, those first whose index has a product that the obligation is about."""
    t = c.s.t
    products = {
        m for term in atoms([o.goal]) if term.op == "poly" for m in t.poly(term) if any(a.level for a in m)
    }
    buffers = [x for x in c.s.objects.values() if x.buffer is not None]
    first = {a.obj.name for a in c.s.accesses if any(m in products for m in t.poly(a.offset))}
    return sorted(buffers, key=lambda x: x.name not in first)


def _lengths(c: Claims, objects: Iterable[MemoryObject]) -> list[Term]:
    """How many elements each has, where its bytes are a multiple."""
    t = c.s.t
    found: dict[Term, None] = {}
    for x in objects:
        width, poly = max(x.elem, 1), t.poly(x.extent) if x.extent is not None else {}
        if poly and not any(k % width for k in poly.values()):
            found[t.from_poly({m: k // width for m, k in poly.items()})] = None
    return list(found)


def _at_least(
    c: Claims, hyp: Term, lengths: list[Term], there: set[Term], symbol_of: Mapping[Term, str]
) -> Iterator[Proposal]:
    """From ``index < n`` on the path: the buffer has at least n elements. ``there``: lengths that are no news."""
    t = c.s.t
    if hyp.op != "le0":
        return
    sizes = {m: -k for m, k in t.poly(hyp.args[0]).items() if m and all(a.level == 0 for a in m)}
    limit = t.from_poly(sizes)
    text = _text(limit, symbol_of)
    if text is None or not sizes:
        return
    for length in lengths:
        name = _text(length, symbol_of)
        if name is not None and length is not limit and limit not in there:
            yield f"{name} >= {text}", {}, t.le(limit, length)


def _shape_constants(contract: Contract) -> list[int]:
    found = {int(x) for b in contract.buffers for x in (*b.shape, b.extent) if x.strip().isdigit()}
    return sorted(found)[:12]


def _text(term: Term, symbol_of: Mapping[Term, str]) -> str | None:
    """A term over symbols as clause text."""
    if isinstance(term, Const):
        return str(term.value)
    if term in symbol_of:
        return symbol_of[term]
    if isinstance(term, PolyTerm):
        parts = []
        for mono, coef in term.monos:
            if any(a not in symbol_of for a in mono):
                return None
            parts.append(
                " * ".join([*([str(coef)] if coef != 1 or not mono else []), *(symbol_of[a] for a in mono)])
            )
        return f"({' + '.join(parts)})" if len(parts) > 1 else parts[0]
    return None
